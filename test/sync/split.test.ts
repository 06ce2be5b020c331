import { describe, expect, test } from 'vitest'
import { JsonError } from '../../src/sync/json-bytes.ts'
import { ListSplitter } from '../../src/sync/list-splitter.ts'
import { LineSplitter, LineTooLong, readWatchEvent } from '../../src/sync/watch-lines.ts'

/** Every way to cut a text in two, and one byte at a time. */
function cuts(text: string): Buffer[][] {
  const bytes = Buffer.from(text)
  const single = [...bytes].map((byte) => Buffer.from([byte]))
  const pairs = single.map((_, at) => [bytes.subarray(0, at), bytes.subarray(at)])
  return [[bytes], single, ...pairs]
}

function split(chunks: readonly Buffer[], itemBytes = 1000) {
  const splitter = new ListSplitter(itemBytes)
  const items = chunks.flatMap((chunk) => splitter.push(chunk))
  const shown = items.map((item) => ('bytes' in item ? item.bytes.toString() : item.tooLargeBytes))
  return { items: shown, ...splitter.end() }
}

describe('a list', () => {
  const cases: ReadonlyArray<{ name: string; given: string; want: object }> = [
    {
      name: 'as kube-apiserver writes it',
      given:
        '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"abc"},"items":[{"a":"北京"},{"b":"}]\\"\\\\"}]}',
      want: {
        kind: 'PodList',
        apiVersion: 'v1',
        resourceVersion: '12',
        continue: 'abc',
        items: ['{"a":"北京"}', '{"b":"}]\\"\\\\"}'],
      },
    },
    {
      name: 'items first, with white space, and fields nobody knows',
      given:
        ' {\r\n"items" : [ {"a":[{}]} ,\n{} ] , "x":{"items":[1]},"n":1 , "t":true,"kind":"L"}\n',
      want: { kind: 'L', resourceVersion: '', continue: '', items: ['{"a":[{}]}', '{}'] },
    },
    {
      name: 'no items, which Go writes as null',
      given: '{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":null}',
      want: { items: [], resourceVersion: '1' },
    },
    {
      name: 'an item that is no object is handed on, to be refused',
      given: '{"items":[null,"a",1,{"a":1}]}',
      want: { items: ['null', '"a"', '1', '{"a":1}'] },
    },
    {
      name: 'an item that is too large, among others',
      given: `{"items":[{"a":1},{"a":"${'x'.repeat(2000)}"},{"b":1}]}`,
      want: { items: ['{"a":1}', 2008, '{"b":1}'] },
    },
  ]
  for (const { name, given, want } of cases) {
    test(`${name}, however it is cut`, () => {
      for (const chunks of cuts(given)) expect(split(chunks)).toMatchObject(want)
    })
  }

  const wrong: ReadonlyArray<{ name: string; given: string }> = [
    { name: 'a Status', given: '{"kind":"Status","code":500}' },
    { name: 'cut off after an item', given: '{"items":[{"a":1}' },
    { name: 'cut off within an item', given: '{"items":[{"a":1' },
    { name: 'nothing', given: '' },
    { name: 'HTML', given: '<html></html>' },
    { name: 'a list of JSON', given: '[]' },
    { name: 'brackets that do not match', given: '{"items":[{"a":1}}' },
    { name: 'something behind', given: '{"items":[]}{"items":[]}' },
  ]
  for (const { name, given } of wrong) {
    test(`${name} is no list`, () => {
      for (const chunks of cuts(given)) expect(() => split(chunks)).toThrow(JsonError)
    })
  }
})

test('an item without an end is an error, once it is longer than can be an item', () => {
  const splitter = new ListSplitter(1024)
  splitter.push(Buffer.from('{"items":[{"a":"'))
  const piece = Buffer.alloc(1024, 'x')
  expect(() => {
    for (let i = 0; i < 100; i++) splitter.push(piece)
  }).toThrow('one value is over 4096 bytes')
})

describe('a watch stream', () => {
  test('lines, however they are cut', () => {
    for (const chunks of cuts('{"a":"北京"}\n{"b":1}\r\n\n{"c":"\\n"}\n{"cut')) {
      const splitter = new LineSplitter(100)
      const lines = chunks.flatMap((chunk) => splitter.push(chunk))
      expect(lines.map(String)).toEqual(['{"a":"北京"}', '{"b":1}', '{"c":"\\n"}'])
      expect(splitter.restBytes).toBe(5)
    }
  })

  test('a line without end is an error before memory is', () => {
    const splitter = new LineSplitter(10)
    splitter.push(Buffer.from('12345'))
    expect(() => splitter.push(Buffer.from('678901'))).toThrow(LineTooLong)
  })

  test('events keep the bytes of their object', () => {
    const event = readWatchEvent(Buffer.from('{"type":"ADDED", "object": {"a": 1.0} }'))
    expect(event.type).toBe('ADDED')
    expect(event.object.toString()).toBe('{"a": 1.0}')
  })

  for (const line of [
    '{"type":"ADDED"}',
    '{"type":"GONE","object":{}}',
    '{"object":{}}',
    'x',
    '{"type":"ADDED","object":{"a"',
  ]) {
    test(`${line} is no event`, () => {
      expect(() => readWatchEvent(Buffer.from(line))).toThrow(JsonError)
    })
  }
})
