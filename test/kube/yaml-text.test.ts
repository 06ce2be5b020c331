/** YAML of others: what would keep the parser busy is refused before it is parsed. */
import { describe, expect, test } from 'vitest'
import { YAML_TOKENS_MOST, yamlValue } from '../../src/kube/yaml-text.ts'

describe('three megabytes of', () => {
  test.each(['[', '{', '- ', '? ', '&a ', '*a ', '!a ', '[] ', '"x" ', 'a: b\n'])('%j', (part) => {
    const text = part.repeat((3 * 1024 * 1024) / part.length)
    expect(() => yamlValue(text)).toThrow(`yaml: more than ${YAML_TOKENS_MOST} tokens`)
  })
})

test.each([
  ['a line that is wrong', 'a: 1\nb: [', /^yaml: line 2: /],
  ['brackets that overflow the stack', '['.repeat(20_000), /^yaml: line 1: /],
  ['an alias of nothing', 'a: *b', /^yaml: its aliases cannot be resolved$/],
  ['aliases by the million', laughs(), /^yaml: its aliases cannot be resolved$/],
])('%s is a syntax error', (_, text, want) => {
  expect(() => yamlValue(text)).toThrow(SyntaxError)
  expect(() => yamlValue(text)).toThrow(want)
})

test('a kubeconfig of a thousand lines is read', () => {
  expect(yamlValue(`users:\n${'  - name: a\n'.repeat(1000)}`)).toMatchObject({
    users: { length: 1000 },
  })
})

function laughs(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`)}]`)
  return lines.join('\n')
}
