import { describe, expect, test } from 'vitest'
import { JsonPathError, parseJsonPath } from '../../src/printers/json-path-parser.ts'

const OBJECT = {
  metadata: {
    name: 'web',
    annotations: { 'example.com/host': 'h', 'a b': 'space', 'q"uote': 'q' },
    labels: { constructor: 'own' },
  },
  spec: {
    list: ['a', 'b', 'c', 'd'],
    empty: [],
    nothing: null,
    ports: [
      { name: 'http', port: 80, open: true },
      { name: 'https', port: 443, open: false, cost: 1.5 },
      { name: 'odd)]', port: 9007199254740993n },
      { port: null },
    ],
    deep: { x: 1, inner: { x: 2, more: [{ x: 3 }] } },
  },
}

/** All that is found; `error` where upstream reports one, which prints as null. */
function find(path: string): readonly unknown[] | 'error' {
  return parseJsonPath(path)([OBJECT]) ?? 'error'
}

describe('what a path finds', () => {
  test.each<[string, string, readonly unknown[] | 'error']>([
    ['a field', '.metadata.name', ['web']],
    ['a field of the root', '$.metadata.name', ['web']],
    ['a field of the current object', '@.metadata.name', ['web']],
    ['a field that is not there', '.status.phase', []],
    ['a field of a text', '.metadata.name.x', []],
    ['a field of a list', '.spec.list.x', []],
    ['a field of null', '.spec.nothing.x', []],
    ['null itself', '.spec.nothing', [null]],
    ['what every JavaScript object has is no field', '.spec.constructor', []],
    ['… unless the object has it', '.metadata.labels.constructor', ['own']],
    ['… nor is the prototype', '.spec.__proto__', []],
    ['an escaped dot', '.metadata.annotations.example\\.com/host', ['h']],
    ['an escaped dot in brackets', ".metadata.annotations['example\\.com/host']", ['h']],
    [
      'a dot in brackets that is not escaped is a step',
      ".metadata.annotations['example.com/host']",
      [],
    ],
    ['a path in brackets', "['metadata.name']", ['web']],
    ['an escaped space', '.metadata.annotations.a\\ b', ['space']],
    ['a quotation mark in a key', '.metadata.annotations.q"uote', ['q']],
    ['the first', '.spec.list[0]', ['a']],
    ['the last', '.spec.list[-1]', ['d']],
    ['the last but one', '.spec.list[-2]', ['c']],
    ['beyond the end', '.spec.list[4]', 'error'],
    ['beyond the beginning', '.spec.list[-5]', 'error'],
    ['the first of none', '.spec.empty[0]', 'error'],
    ['all', '.spec.list[*]', ['a', 'b', 'c', 'd']],
    ['all of none', '.spec.empty[*]', []],
    ['a slice', '.spec.list[1:3]', ['b', 'c']],
    ['a slice to the end', '.spec.list[2:]', ['c', 'd']],
    ['a slice from the beginning', '.spec.list[:2]', ['a', 'b']],
    ['a slice of the end', '.spec.list[-2:]', ['c', 'd']],
    ['a slice without the end', '.spec.list[0:-1]', ['a', 'b', 'c']],
    ['a slice with a step', '.spec.list[0:4:2]', ['a', 'c']],
    ['a step alone', '.spec.list[::3]', ['a', 'd']],
    ['a step of nothing', '.spec.list[::0]', 'error'],
    ['an empty slice', '.spec.list[1:1]', []],
    ['a slice beyond the end', '.spec.list[1:9]', 'error'],
    ['a slice backwards', '.spec.list[3:1]', 'error'],
    ['an index of an object', '.spec[0]', 'error'],
    ['an index of what is not there', '.status[0]', []],
    ['an index of null', '.spec.nothing[0]', []],
    ['fields of all', '.spec.ports[*].name', ['http', 'https', 'odd)]']],
    ['every child', '.spec.deep.inner.*', [2, [{ x: 3 }]]],
    ['every child of a list', '.spec.list.*', ['a', 'b', 'c', 'd']],
    ['every child of a text', '.metadata.name.*', [119, 101, 98]],
    ['a union of indexes', '.spec.list[0,2,-1]', ['a', 'c', 'd']],
    ['a union of slices and indexes', '.spec.list[0:2, 3]', ['a', 'b', 'd']],
    ['a union of keys', ".metadata['name','annotations.a\\ b']", ['web', 'space']],
    ['a union with a member beyond the end', '.spec.list[0,9]', 'error'],
    ['recursive descent', '.spec.deep..x', [1, 2, 3]],
    ['recursive descent, then an index', '..more[0].x', [3]],
    ['an index of all that recursive descent finds', '..[0]', 'error'],
    ['… of which texts are a part', '.spec.list..[0]', 'error'],
    ['equal', '.spec.ports[?(@.name=="https")].port', [443]],
    ['equal, in single quotes', ".spec.ports[?(@.name=='https')].port", [443]],
    ['equal, with spaces', '.spec.ports[?( @.name == "https" )].port', [443]],
    ['equal to none', '.spec.ports[?(@.name=="ftp")].port', []],
    ['brackets in quotes', '.spec.ports[?(@.name=="odd)]")].port', [9007199254740993n]],
    ['a field that only some have', '.spec.ports[?(@.cost>1.1)].name', ['https']],
    ['not equal', '.spec.ports[?(@.name!="http")].port', [443, 9007199254740993n]],
    ['true', '.spec.ports[?(@.open==true)].name', ['http']],
    ['a number', '.spec.ports[0:3][?(@.port==443)].name', 'error'],
    ['there is such a field', '.spec.ports[?(@.cost)].name', ['https']],
    ['elements themselves', '.spec.list[?(@>"b")]', ['c', 'd']],
    ['a number with a point', '.spec.ports[?(@.cost>1.0)].name', ['https']],
    ['a whole number is no number with a point', '.spec.ports[?(@.port==80.0)].name', 'error'],
    ['at most', '.spec.list[?(@<="b")]', ['a', 'b']],
    ['less', '.spec.list[?(@<"b")]', ['a']],
    ['at least', '.spec.list[?(@>="c")]', ['c', 'd']],
    ['unlike types', '.spec.list[?(@==1)]', 'error'],
    ['null compares with nothing', '.spec.ports[?(@.port==80)]', 'error'],
    ['order of booleans', '.spec.ports[?(@.open<true)]', 'error'],
    ['an unknown operator', '.spec.list[?(@<>"a")]', 'error'],
    ['an unknown operator, and nothing to compare', '.spec.empty[?(@=1)]', []],
    ['… or no such field', '.spec.ports[?(@.missing===1)]', []],
    ['a filter of an object', '.spec.deep[?(@.x==1)]', 'error'],
    ['a filter of what is not there', '.status.conditions[?(@.type=="Ready")].status', []],
    ['a word', 'range', 'error'],
    ['a text', '"hello"', ['hello']],
    ['a text with escapes', '"a\\n\\u0041\\x42"', ['a\nAB']],
    ['a text with escapes by number', '"\\101\\U0001F600"', ['A😀']],
    ['a number alone', '42', [42]],
    ['a number for each that was found', '.spec.list[0:2]7', [7, 7]],
    ['a number for nothing', '.status 7', []],
    ['nothing', '', [OBJECT]],
    ['after the end of the expression', '.metadata.name}{.x', ['web']],
  ])('%s', (_, path, found) => {
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
