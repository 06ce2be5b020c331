/** The encoders alone: whatever JSON comes, cut wherever. */
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { uniteColumns } from '../../src/apiserver/encode/column-union.ts'
import { PrettyJson, wantsPretty } from '../../src/apiserver/encode/pretty-json.ts'
import { ClientGone, ResponseWriter } from '../../src/apiserver/encode/response-writer.ts'
import { tableRows } from '../../src/apiserver/encode/table-row.ts'
import { jsonToYaml, jsonToYamlItem } from '../../src/apiserver/encode/yaml.ts'
import type { ColumnDefinition } from '../../src/kube/table.ts'
import { encodeCells, encodeRow } from '../../src/printers/cell.ts'
import { type Printer, TimeSince } from '../../src/printers/printer.ts'
import { printerFor } from '../../src/printers/printers.ts'
import type { RawRow } from '../../src/store/list-request.ts'

/** Strings that YAML readers like to take for something else. */
const tricky = fc.constantFrom(
  ...[
    '',
    'yes',
    'No',
    'null',
    '~',
    '1e3',
    '0x1f',
    '007',
    '1_000',
    '2026-12-01',
    '12:30:45',
    '.inf',
  ],
  ...[
    '- a',
    '# a',
    'a: b',
    'a #b',
    "it's",
    '"',
    '\\',
    '{',
    '[',
    '|',
    '>',
    '*a',
    '&a',
    '!a',
    '%a',
    '@a',
  ],
  ...[
    'a\n',
    'a\nb',
    'a\nb\n\n',
    '\n',
    ' a',
    'a ',
    'a\n b',
    '\ta\n',
    'a\t\nb',
    'a \nb',
    'ü\nß\n',
    '\u2028',
    '\ufeff',
    '=',
    '<<',
  ],
)
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.string({ unit: 'binary' }), tricky),
    fc.oneof(fc.boolean(), fc.constant(null), fc.integer()),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(tricky, fc.string()), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value

describe('YAML', () => {
  test('reads back as what the JSON says, with a reader of 1.1 and of 1.2', () => {
    fc.assert(
      fc.property(json, (value) => {
        const yaml = jsonToYaml(JSON.stringify(value))
        for (const version of ['1.1', '1.2'] as const) {
          expect(parse(yaml, { version, merge: false, maxAliasCount: 0 })).toEqual(value)
        }
      }),
      { numRuns: 500 },
    )
  })
  const ODD_KEYS = [
    '[{"\\\\":1},{"\\"":2}]',
    '{"a":{"x":1,"\\\\":2},"b":{"x":1,"\\"":2},"c":{"x":1,"\\n":2},"d":{"x":1,"\\u0041":2}}',
    '{"\\ue000a":1,"\ue000":{"\ue0005c00":2}}',
    '{"a":": \\"x\\":","\\"b\\"":"c"}',
  ]
  test.each(ODD_KEYS)('keeps keys apart that are spelled with escapes: %s', (text) => {
    // Not by JSON.parse, which does not.
    const read = parse(text, { version: '1.2' })
    expect(parse(jsonToYaml(text), { version: '1.1' })).toEqual(read)
  })
  test('of an entry reads back as a list of one', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(parse(jsonToYamlItem(JSON.stringify(value)), { version: '1.1' })).toEqual([value])
      }),
    )
  })
  const texts: ReadonlyArray<{
    readonly name: string
    readonly json: string
    readonly want: string
  }> = [
    {
      name: 'keys are sorted, lists stand at the indentation of their key',
      json: '{"b":[1,{"c":2,"a":[]}],"a":{"x":null}}',
      want: 'a:\n  x: null\nb:\n- 1\n- a: []\n  c: 2\n',
    },
    {
      name: 'numbers keep their digits',
      json: '[1.10,1e400,12345678901234567890]',
      want: '- 1.10\n- 1e400\n- 12345678901234567890\n',
    },
    { name: 'lists in lists', json: '[[1,[2]],{}]', want: '- - 1\n  - - 2\n- {}\n' },
    { name: 'lines as lines', json: '{"a":"x: 1\\ny\\n"}', want: 'a: |\n  x: 1\n  y\n' },
    {
      name: 'NUL and lone surrogates',
      json: '["a\\u0000","\\ud800"]',
      want: '- "a\\0"\n- "\\ud800"\n',
    },
  ]
  for (const { name, json: text, want } of texts) {
    test(name, () => expect(jsonToYaml(text)).toBe(want))
  }
})

describe('indented JSON', () => {
  test('is what JSON.stringify makes, wherever the bytes are cut', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 40 }), (value, size) => {
        const bytes = Buffer.from(JSON.stringify(value))
        let text = ''
        const sink = new PrettyJson({
          write: (piece) => {
            text += Buffer.from(piece).toString('latin1')
            return undefined
          },
        })
        for (let at = 0; at < bytes.length; at += size)
          void sink.write(bytes.subarray(at, at + size))
        expect(Buffer.from(text, 'latin1').toString('utf8')).toBe(JSON.stringify(value, null, 2))
      }),
    )
  })
  const cases: ReadonlyArray<{
    readonly query: string
    readonly agent?: string
    readonly want: boolean
  }> = [
    { query: '', want: false },
    { query: 'pretty=true', want: true },
    { query: 'pretty=1', want: true },
    { query: 'pretty=', want: false },
    { query: '', agent: 'curl/8.5.0', want: true },
    { query: '', agent: 'Wget/1.21', want: true },
    { query: '', agent: 'Mozilla/5.0 (X11)', want: true },
    { query: '', agent: 'kubectl/v1.33.1', want: false },
    { query: 'pretty=false', agent: 'curl/8.5.0', want: false },
  ]
  for (const { query, agent, want } of cases) {
    test(`for ${agent ?? 'nobody'} with "${query}": ${want}`, () => {
      expect(wantsPretty(new URLSearchParams(query), agent)).toBe(want)
    })
  }
})

const column = (name: string, priority = 0): ColumnDefinition => ({
  ...{ name, type: 'string', format: name === 'Name' ? 'name' : '', description: '', priority },
})

describe('the union of columns', () => {
  const [name, a, b, c] = ['Name', 'A', 'B', 'C'].map((text) => column(text))
  const cases: ReadonlyArray<{
    readonly name: string
    readonly sets: ReadonlyArray<readonly ColumnDefinition[]>
    readonly want: readonly string[]
  }> = [
    { name: 'of nothing', sets: [], want: [] },
    {
      name: 'of equal sets',
      sets: [
        [name!, a!],
        [name!, a!],
      ],
      want: ['Name', 'A'],
    },
    {
      name: 'keeps the first order',
      sets: [
        [name!, b!],
        [name!, a!, b!, c!],
      ],
      want: ['Name', 'B', 'A', 'C'],
    },
    {
      name: 'of two columns of one name',
      sets: [
        [name!, a!, a!],
        [name!, a!],
      ],
      want: ['Name', 'A', 'A'],
    },
  ]
  for (const { name: title, sets, want } of cases) {
    test(title, () => expect(uniteColumns(sets).columns.map((one) => one.name)).toEqual(want))
  }
  test('says where the cells of each set belong', () => {
    const union = uniteColumns([
      [name!, b!],
      [name!, a!, b!],
    ])
    expect(union.placesOf([name!, b!, a!])).toBe('as-they-are')
    expect(union.placesOf([name!, b!])).toEqual([0, 1, undefined])
    expect(union.placesOf([name!, a!, b!])).toEqual([0, 2, 1])
    expect(union.placesOf([name!, c!])).toEqual([0, undefined, undefined])
  })
})

test('a row made with columns that nobody knows any more shows its name', () => {
  const row = {
    ...{ clusterId: 1, apiVersion: 'v1', columnsId: 9 },
    cells: encodeCells(['x', new TimeSince(0)]),
    position: () => ({ values: [], cluster: 'dot-01', namespace: '', name: 'web"0' }),
  } as RawRow
  const union = uniteColumns([[column('Name'), column('Age')]])
  const of = { union, clusterName: () => 'dot-01', object: null, nowMilliseconds: 60_000 }
  const text = (columns: readonly ColumnDefinition[] | undefined) =>
    Buffer.concat([...tableRows({ ...of, columnSet: () => columns }).row(row)]).toString()
  expect(text(undefined)).toBe('{"cells":["dot-01","web\\"0",null],"object":null}')
  expect(text([column('Name'), column('Age')])).toBe('{"cells":["dot-01","x","60s"],"object":null}')
})

test('a row keeps its conditions, also where its cells are moved', () => {
  const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' }
  const printer: Printer = {
    columns: [column('Name'), column('Phase')],
    cells: () => ['x]"', 'a,b'],
    ...(({ conditions }) => conditions && { conditions })(printerFor(pods)),
  }
  const row = {
    ...{ clusterId: 1, apiVersion: 'v1', columnsId: 9 },
    cells: encodeRow(printer, { status: { phase: 'Failed' } }),
  } as RawRow
  const sent = (columns: readonly ColumnDefinition[]) => {
    const union = uniteColumns([columns])
    const of = { union, clusterName: () => 'dot-01', object: null, nowMilliseconds: 0 }
    const { row: toJson } = tableRows({ ...of, columnSet: () => printer.columns })
    return JSON.parse(Buffer.concat([...toJson(row)]).toString())
  }
  const conditions = [
    { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
  ]
  expect(sent(printer.columns)).toEqual({
    ...{ cells: ['dot-01', 'x]"', 'a,b'], conditions, object: null },
  })
  expect(sent([column('Phase'), column('Other'), column('Name')])).toEqual({
    ...{ cells: ['dot-01', 'a,b', null, 'x]"'], conditions, object: null },
  })
})

describe('the response writer', () => {
  /** A response whose other end is read when the test says so. */
  function slowResponse() {
    const stream = new PassThrough({ highWaterMark: 1024 })
    return { stream, response: stream as unknown as ServerResponse }
  }

  test('waits for a client that does not read, and loses nothing', async () => {
    const { stream, response } = slowResponse()
    const writer = new ResponseWriter(response)
    const piece = Buffer.alloc(10_000, 'a')
    let written = 0
    const writing = (async () => {
      for (let i = 0; i < 100; i++) {
        await writer.write(piece)
        written += piece.length
      }
      await writer.end()
    })()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(written).toBeLessThan(400_000)
    let read = 0
    for await (const chunk of stream) read += chunk.length
    await writing
    expect(read).toBe(1_000_000)
  })

  test('gives up when the client is gone', async () => {
    const { stream, response } = slowResponse()
    const writer = new ResponseWriter(response)
    const writing = (async () => {
      for (;;) await writer.write(Buffer.alloc(100_000))
    })()
    setTimeout(() => stream.destroy(), 20)
    await expect(writing).rejects.toThrow(ClientGone)
    expect(() => writer.write(Buffer.alloc(1))).toThrow(ClientGone)
  })

  test('does not touch what it was given', async () => {
    const { stream, response } = slowResponse()
    const writer = new ResponseWriter(response)
    const reused = Buffer.alloc(3)
    for (const text of ['abc', 'def', 'ghi']) {
      reused.write(text)
      await writer.write(reused)
    }
    const ended = writer.end()
    let text = ''
    for await (const chunk of stream) text += chunk
    await ended
    expect(text).toBe('abcdefghi')
  })
})
