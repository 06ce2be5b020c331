/** Bodies as text: JSON and YAML, exactly as Kubernetes reads them. */
import { describe, expect, test } from 'vitest'
import { parseBody } from '../../src/registration/body-text.ts'
import { formatJson, parseJson } from '../../src/registration/json-text.ts'

describe('JSON that is read and written again', () => {
  const cases: ReadonlyArray<readonly [text: string, want: string]> = [
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['18446744073709551616', '18446744073709551616'],
    ['9007199254740991', '9007199254740991'],
    ['0.1', '0.1'],
    ['1e21', '1e+21'],
    ['{"b":1,"a":{"d":[],"c":null}}', '{"a":{"c":null,"d":[]},"b":1}'],
    ['"a\\u0000b\\ud800\\u2028"', '"a\\u0000b\\ud800\u2028"'],
    ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":1},"constructor":2}'],
    [' [ true , false , null ] ', '[true,false,null]'],
  ]
  for (const [text, want] of cases) {
    test(text, () => expect(formatJson(parseJson(text).value)).toBe(want))
  }
})

test('fields given twice are told with their paths; the last one counts', () => {
  const { value, duplicates } = parseJson('{"a":{"b":1,"b":2},"c":[{"d":1,"d":3}],"a":{"e":4}}')
  expect(value).toEqual({ a: { e: 4 }, c: [{ d: 3 }] })
  expect(duplicates).toEqual(['a.b', 'c[0].d', 'a'])
})

describe('JSON that is none', () => {
  const cases: ReadonlyArray<readonly [text: string, want: string]> = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['{a}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['1 2', "invalid character '2' after top-level value"],
    ['nope', "invalid character 'n' looking for beginning of value"],
    ['1e999', 'json: cannot unmarshal number 1e999 into float64'],
    ['['.repeat(1000), 'exceeded max depth'],
  ]
  for (const [text, want] of cases) {
    test(text.slice(0, 20) || 'nothing', () => expect(() => parseJson(text)).toThrow(want))
  }
})

describe('YAML', () => {
  const cases: ReadonlyArray<readonly [name: string, text: string, want: unknown]> = [
    [
      'words that YAML 1.1 takes for truth values',
      'a: yes\nb: "yes"\nc: off',
      { a: true, b: 'yes', c: false },
    ],
    [
      'times stay text',
      'a: 2026-12-01T03:26:59Z\nb: 2026-12-01',
      { a: '2026-12-01T03:26:59Z', b: '2026-12-01' },
    ],
    ['keys become text', '1: a\ntrue: b', { 1: 'a', true: 'b' }],
    ['anchors and merges', 'a: &x {b: 1}\nc: {<<: *x, d: 2}', { a: { b: 1 }, c: { b: 1, d: 2 } }],
    ['large integers', 'a: 9007199254740993', { a: 9007199254740993n }],
    ['JSON', '{"a": [1, "b"]}', { a: [1, 'b'] }],
    ['flow style that is no JSON', '{a: [1, b]}', { a: [1, 'b'] }],
    ['nothing', '', null],
  ]
  for (const [name, text, want] of cases) {
    test(name, () => expect(parseBody({ text, format: 'yaml' }).value).toEqual(want))
  }

  test('fields given twice', () => {
    const text = 'spec:\n  a: 1\n  a: 2\nspec2: {}\n'
    expect(parseBody({ text, format: 'yaml' }).duplicates).toEqual(['spec.a'])
  })

  test('what is no YAML names the line', () => {
    expect(() => parseBody({ text: 'a: 1\nb: [', format: 'yaml' })).toThrow(/^yaml: line \d+: /)
  })

  test('aliases that would grow without end', () => {
    const lines = Array.from(
      { length: 12 },
      (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`,
    )
    const text = ['a0: &a0 [x]', ...lines].join('\n')
    expect(() => parseBody({ text, format: 'yaml' })).toThrow()
  })
})
