import { describe, expect, test } from 'vitest'
import { JsonPathError, parseJsonPath } from '../../src/printers/json-path-parser.ts'
import { OBJECT, PATH_CASES } from './json-path-cases.ts'

/** All that is found; `error` where upstream reports one, which prints as null. */
function find(path: string): readonly unknown[] | 'error' {
  return parseJsonPath(path)([OBJECT]) ?? 'error'
}

describe('what a path finds', () => {
  test.each(PATH_CASES)('%s', (_, path, found) => {
    expect(find(path)).toEqual(found)
  })
})

test('digits beyond 2^53 are compared exactly', () => {
  const path = parseJsonPath('[?(@.n>9007199254740992)].n')
  const of = (n: bigint) => path([[{ n }]])
  expect(of(9007199254740993n)).toEqual([9007199254740993n])
  expect(of(9007199254740992n)).toEqual([])
  const same = parseJsonPath('[?(@.n==9007199254740993)].n')
  expect(same([[{ n: 9007199254740993n }, { n: 9007199254740992n }]])).toEqual([9007199254740993n])
})

describe('paths that have no meaning', () => {
  test.each([
    ['brackets not closed', '.spec.list[0'],
    ['a word in brackets', '.spec.list[a]'],
    ['double quotes in brackets', '.spec["a"]'],
    ['a minus alone', '.spec.list[-]'],
    ['a filter not closed', '.spec[?(@.x=="y"'],
    ['a filter without its bracket', '.spec[?(@.x=="y")'],
    ['two comparisons', '.spec.list[?(@=="a"=="b")]'],
    ['a quote not closed', '"abc'],
    ['an unknown escape', '"a\\q"'],
    ['an escape of no character', '"\\UFFFFFFFF"'],
    ['a backslash at the end', '.metadata.annotations.a\\'],
    ['descent twice', '.spec....x'],
    ['a character that means nothing', '|x'],
    ['a number that is none', '1.2.3'],
  ])('%s', (_, path) => {
    expect(() => parseJsonPath(path)).toThrow(JsonPathError)
  })
})
