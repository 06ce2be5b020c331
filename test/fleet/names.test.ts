/** Globs, names of fleet files, and durations. */
import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../src/cli/duration.ts'
import { parseFleetFile } from '../../src/fleet/fleet-file.ts'
import { sanitiseName } from '../../src/fleet/row-name.ts'
import { compareBytes } from '../../src/kube/byte-order.ts'
import { matchesGlob } from '../../src/kube/glob.ts'

test.each([
  ['*/api-*:6443/*', 'default/api-example-com:6443/kube:admin', true],
  ['edge-?', 'edge-a', true],
  ['edge-[ab]', 'edge-a', false],
  ['edge-[ab]', 'edge-[ab]', true],
  ['?', 'é', true],
  ['?', '😀', true],
  ['*', '', true],
  ['a*', 'ba', false],
  ['*a*b*c', 'xaybzc', true],
  ['*a*b*c', 'xaybzcd', false],
  ['a.b', 'axb', false],
  ['a*', 'a*', true],
  ['prod', 'prod-a', false],
])('%s on %s: %s', (pattern, text, matches) => {
  expect(matchesGlob(pattern, text)).toBe(matches)
})

test('a pattern of many stars takes no time', () => {
  expect(matchesGlob('*a'.repeat(50), 'a'.repeat(5000).concat('b'))).toBe(false)
})

test('names are ordered by their bytes', () => {
  expect(['\u{1f600}', '\uff00', 'b', 'B', 'a'].sort(compareBytes)).toEqual([
    'B',
    'a',
    'b',
    '\uff00',
    '\u{1f600}',
  ])
})

test.each([
  ['a\tb\nc\u2028d', 'a b c d'],
  ['a\u001b[31mb', 'a[31mb'],
  ['a\u202eb\u200b', 'ab'],
  ['  a ', 'a'],
  [`a${'\u0301'.repeat(9)}b`, `a${'\u0301'.repeat(4)}b`],
  ['\ud800', '\ufffd'],
  ['x'.repeat(513), `${'x'.repeat(511)}…`],
  ['\u200b', ''],
])('the name %j is shown as %j', (given, shown) => {
  expect(sanitiseName(given)).toBe(shown)
})

describe('a fleet file', () => {
  test('of contexts, names and kubeconfigs', () => {
    const text = '- context: a\n- {context: default, name: "edge\\tb", kubeconfig: /x}\n'
    expect(parseFleetFile(text)).toEqual([
      { context: 'a', name: 'a' },
      { context: 'default', name: 'edge b', kubeconfig: '/x' },
    ])
  })

  test.each([
    ['nothing', '', 'empty'],
    ['a comment alone', '# none', 'empty'],
    ['an empty list', '[]', 'no clusters'],
    ['a mapping', 'clusters: []', 'must be a list'],
    ['two documents', '- context: a\n---\n- context: b\n', 'more than one document'],
    ['no YAML', '- [', 'not YAML'],
    [
      'a key that is not known',
      '- context: a\n- context: b\n  server: https://x\n',
      'entry 2 has a key',
    ],
    ['a key twice', '- context: a\n  context: b\n', 'twice'],
    ['a blank context', '- context: "  "\n', 'entry 1 has no context'],
    ['no context', '- name: a\n', 'entry 1 has no context'],
    ['a context that is a number', '- context: 1\n', 'must be a string'],
    ['a name of nothing but control characters', '- context: a\n  name: "\\u200b"\n', 'entry 1'],
    [
      'one name twice',
      '- context: default\n- context: a\n- context: default\n',
      'entries 1 and 3 are both named "default"',
    ],
    [
      'names that look the same',
      '- {context: a, name: "x\\u200b"}\n- {context: b, name: x}\n',
      'entries 1 and 2',
    ],
    ['a text', 'hello', 'must be a list'],
    ['entries that are texts', '- a\n', 'entry 1'],
  ])('with %s is refused', (_, text, says) => {
    expect(() => parseFleetFile(text)).toThrow(says)
  })
})

test.each([
  ['60s', 60_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['500ms', 500],
  ['0', 0],
  ['-5s', -5_000],
  ['5', undefined],
  ['', undefined],
  ['7d', 604_800_000],
  ['1y', 31_536_000_000],
  ['5 min', undefined],
  ['1x', undefined],
])('%j is %s ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})
