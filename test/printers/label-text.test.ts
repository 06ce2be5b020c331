import { describe, expect, test } from 'vitest'
import { labelsText, selectorText } from '../../src/printers/label-text.ts'

test.each([
  ['none', undefined, '<none>'],
  ['empty', {}, '<none>'],
  ['one', { app: 'web' }, 'app=web'],
  ['sorted by key', { b: '2', a: '1', 'x.io/c': '' }, 'a=1,b=2,x.io/c='],
  ['of another type', ['a'], '<none>'],
])('labels: %s', (_, labels, text) => {
  expect(labelsText(labels)).toBe(text)
})

describe('selectors', () => {
  const expression = (operator: string, values?: readonly string[]) => ({
    matchExpressions: [{ key: 'tier', operator, values }],
  })
  test.each<[string, unknown, string]>([
    ['none', null, '<none>'],
    ['empty', { matchLabels: {} }, '<none>'],
    ['labels', { matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
    ['In', expression('In', ['b', 'a']), 'tier in (a,b)'],
    ['In, one value', expression('In', ['a']), 'tier in (a)'],
    ['In, a value twice', expression('In', ['b', 'a', 'b']), 'tier in (a,b,b)'],
    ['NotIn', expression('NotIn', ['a', 'b']), 'tier notin (a,b)'],
    ['Exists', expression('Exists'), 'tier'],
    ['DoesNotExist', expression('DoesNotExist', []), '!tier'],
    [
      'labels and expressions, in order of keys',
      { matchLabels: { z: '1' }, ...expression('Exists') },
      'tier,z=1',
    ],
    ['In without values', expression('In'), '<error>'],
    ['Exists with values', expression('Exists', ['a']), '<error>'],
    ['an operator that is none', expression('Like', ['a']), '<error>'],
  ])('%s', (_, selector, text) => {
    expect(selectorText(selector)).toBe(text)
  })
})
