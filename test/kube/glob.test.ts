import { expect, test } from 'vitest'
import { matchesGlob } from '../../src/kube/glob.ts'

test.each([
  ['prod', 'prod', true],
  ['prod', 'prod-1', false],
  ['prod-*', 'prod-', true],
  ['prod-*', 'prod', false],
  ['*', '', true],
  ['*', 'anything', true],
  ['*-eu', 'prod-eu', true],
  ['*-eu', 'prod-eu-1', false],
  ['p*d-*-1', 'prod-eu-1', true],
  ['p*d-*-1', 'prod-eu-2', false],
  ['a**b', 'ab', true],
  ['*ab', 'aab', true],
  ['*aba', 'ababa', true],
  ['dot-0?', 'dot-01', true],
  ['dot-0?', 'dot-0', false],
  ['dot?01', 'dot-01', true],
  // A name may hold dots; they are no wildcards.
  ['a.b', 'a.b', true],
  ['a.b', 'axb', false],
  ['[a]', 'a', false],
  ['', '', true],
  ['', 'a', false],
  ['?', '', false],
])('%s and %s', (pattern, name, matches) => {
  expect(matchesGlob(pattern, name)).toBe(matches)
})

test('a pattern of many stars is no work', () => {
  const start = process.cpuUsage()
  expect(matchesGlob(`${'*a'.repeat(50)}*b`, 'a'.repeat(100_000))).toBe(false)
  expect(process.cpuUsage(start).user).toBeLessThan(1_000_000)
})
