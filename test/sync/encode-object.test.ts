import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/keyring.ts'
import { storedAs } from '../../src/kube/moved-resources.ts'
import {
  childPath,
  elementPath,
  fieldToken,
  labelKeyPath,
  typeSeed,
  wordPath,
} from '../../src/kube/search-token.ts'
import { splitRow } from '../../src/printers/cell.ts'
import type { Cell, Printer } from '../../src/printers/printer.ts'
import { createObjectEncoder, InvalidObject } from '../../src/sync/encode-object.ts'

const keyring = createKeyring(Buffer.alloc(32, 7))
const POD = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' }
const SECRET = { group: '', version: 'v1', resource: 'secrets', kind: 'Secret' }
const column = { type: 'string', format: '', description: '', priority: 0 }
const printer: Printer = {
  columns: [
    { ...column, name: 'Id' },
    { ...column, name: 'Phase' },
  ],
  cells: ({ spec, status }) => [field(spec, 'id'), field(status, 'phase')],
}

function field(of: unknown, key: string): Cell {
  return ((of as Record<string, Cell> | undefined)?.[key] ?? null) as Cell
}

function encoder(of = POD, secretValues: 'digest' | 'store' = 'digest') {
  return createObjectEncoder({ cluster: 'dot-01', of, printer, keyring, secretValues })
}

function encode(text: string | Buffer, of = POD) {
  return encoder(of)(Buffer.from(text as string))
}

function json(row: { head: Buffer; metadata: Buffer; tail: Buffer }): string {
  return Buffer.concat([row.head, row.metadata, row.tail]).toString()
}

const NAMED = '"name":"a","uid":"u1","resourceVersion":"7"'
const MARK = '"shadow.clusterpedia.io/cluster-name":"dot-01"'

describe('the stored text', () => {
  const cases: ReadonlyArray<{ name: string; given: string; want: string }> = [
    {
      name: 'a list item without kind and apiVersion gets both, in front',
      given: `{"metadata":{${NAMED}},"spec":{}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}},${NAMED}},"spec":{}}`,
    },
    {
      name: 'a watch event keeps its own, wherever they stand',
      given: `{"metadata":{${NAMED}},"apiVersion":"v1","kind":"Pod"}`,
      want: `{"metadata":{"annotations":{${MARK}},${NAMED}},"apiVersion":"v1","kind":"Pod"}`,
    },
    {
      name: 'an empty kind is filled',
      given: `{"kind":"","apiVersion":null,"metadata":{${NAMED}}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}},${NAMED}}}`,
    },
    {
      name: 'annotations that are null become an object',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{${NAMED},"annotations":null}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{${NAMED},"annotations":{${MARK}}}}`,
    },
    {
      name: 'empty annotations get no comma',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{},${NAMED}}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}},${NAMED}}}`,
    },
    {
      name: 'managedFields last',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{${NAMED},"managedFields":[{"a":"}]"}]}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}},${NAMED}}}`,
    },
    {
      name: 'managedFields between others',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":null,${NAMED}}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}},${NAMED}}}`,
    },
    {
      name: 'last-applied and a foreign cluster annotation, alone',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","shadow.clusterpedia.io/cluster-name":"liar"},${NAMED}}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}},${NAMED}}}`,
    },
    {
      name: 'last-applied and a foreign cluster annotation, around others',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"shadow.clusterpedia.io/cluster-name":"liar","a":"b","c":"d","kubectl.kubernetes.io/last-applied-configuration":"{}"},${NAMED}}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK},"a":"b","c":"d"},${NAMED}}}`,
    },
    {
      name: 'white space, digits, escapes, lone surrogates and NUL escapes stay as they are',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{ ${NAMED} },\n "x":[1.0, 1e3,-0,9223372036854775807,"\\u0000\\ud800\\\\u0000\\/","北京😀"]}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{${MARK}}, ${NAMED} },\n "x":[1.0, 1e3,-0,9223372036854775807,"\\u0000\\ud800\\\\u0000\\/","北京😀"]}`,
    },
    {
      name: 'of equal keys the last counts, and all bytes stay',
      given: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"old","annotations":{}},"metadata":{"name":"z",${NAMED}}}`,
      want: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"old","annotations":{}},"metadata":{"annotations":{${MARK}},"name":"z",${NAMED}}}`,
    },
  ]
  for (const { name, given, want } of cases) {
    test(name, () => {
      const row = encode(given)
      expect(json(row)).toBe(want)
      expect(row).toMatchObject({ name: 'a', uid: 'u1', resourceVersion: '7', apiVersion: 'v1' })
      expect(row.metadata.subarray(row.resourceVersionOffset).toString()).toMatch(/^7"/)
      expect(JSON.parse(row.metadata.toString()).annotations).toMatchObject({
        'shadow.clusterpedia.io/cluster-name': 'dot-01',
      })
    })
  }

  test('head, metadata and tail meet at the value of metadata', () => {
    const row = encode(`{"kind":"Pod","apiVersion":"v1","metadata":{${NAMED}},"spec":{}}`)
    expect(row.head.toString()).toBe('{"kind":"Pod","apiVersion":"v1","metadata":')
    expect(row.tail.toString()).toBe(',"spec":{}}')
  })
})

describe('columns', () => {
  const cases = [
    {
      name: 'a time as the member wrote it',
      given: '"2026-12-01T03:24:02Z"',
      want: '2026-12-01T03:24:02Z',
    },
    {
      name: 'microseconds are kept',
      given: '"2026-12-01T03:24:02.123456Z"',
      want: '2026-12-01T03:24:02.123456Z',
    },
    { name: 'what is no time is none', given: '"yesterday"', want: null },
    { name: 'a day that does not exist', given: '"2026-13-41T00:00:00Z"', want: null },
    { name: '30 February', given: '"2026-02-30T00:00:00Z"', want: null },
    { name: 'the year zero', given: '"0000-01-01T00:00:00Z"', want: null },
    { name: 'null', given: 'null', want: null },
  ]
  for (const { name, given, want } of cases) {
    test(name, () => {
      const row = encode(`{"metadata":{"namespace":"n",${NAMED},"creationTimestamp":${given}}}`)
      expect(row).toMatchObject({ namespace: 'n', createdAt: want })
    })
  }

  test('digits beyond 2^53 reach the cells', () => {
    const row = encode(
      `{"metadata":{${NAMED}},"spec":{"id":9223372036854775807},"status":{"phase":"Up"}}`,
    )
    expect(splitRow(row.cells).cells.map(String)).toContain('9223372036854775807')
    expect(splitRow(row.cells).cells.map(String)).toContain('"Up"')
  })
})

describe('search tokens', () => {
  const seed = typeSeed({ group: '', resource: 'pods' })
  const path = (...keys: string[]) =>
    keys.reduce(
      (parent, key) => (key === '[]' ? elementPath(parent) : childPath(parent, key)),
      seed,
    )
  const token = (value: string, ...keys: string[]) => fieldToken(path(...keys), value)
  const always = token('dot-01', 'metadata', 'annotations', 'shadow.clusterpedia.io/cluster-name')
  const words = (...texts: string[]) => texts.map((text) => fieldToken(wordPath(seed), text))
  // All have the cluster's annotation, and the name `a`.
  const sorted = (...tokens: bigint[]) =>
    new BigInt64Array([always, ...words('a'), ...tokens]).sort()
  const cases: ReadonlyArray<{
    name: string
    given: string
    want: BigInt64Array
    status?: BigInt64Array
  }> = [
    {
      name: 'every scalar leaf, by its own spelling',
      given: `"spec":{"a":"x","b":1.0,"c":true,"d":null,"e":{"f":""},"g":{},"h":[]}`,
      want: sorted(
        token('x', 'spec', 'a'),
        token('1.0', 'spec', 'b'),
        token('true', 'spec', 'c'),
        token('null', 'spec', 'd'),
        token('', 'spec', 'e', 'f'),
      ),
    },
    {
      name: 'any element of a list, each value once',
      given: `"spec":{"l":[{"n":"a"},{"n":"a"},{"n":"b"},["c"],"d"]}`,
      want: sorted(
        token('a', 'spec', 'l', '[]', 'n'),
        token('b', 'spec', 'l', '[]', 'n'),
        token('c', 'spec', 'l', '[]', '[]'),
        token('d', 'spec', 'l', '[]'),
      ),
    },
    {
      name: 'escapes are resolved in keys and values',
      given: `"sp\\u0065c":{"\\u0061\\"":"\\u5317京\\n\\/"}`,
      want: sorted(token('北京\n/', 'spec', 'a"')),
    },
    {
      name: 'what stands under status is apart',
      given: `"status":{"phase":"Running","c":[{"s":"True"}]},"spec":{"status":"x"}`,
      want: sorted(token('x', 'spec', 'status')),
      status: new BigInt64Array([
        token('Running', 'status', 'phase'),
        token('True', 'status', 'c', '[]', 's'),
      ]).sort(),
    },
    {
      name: 'of equal keys only the last is found',
      given: `"spec":{"a":"x","b":{"c":"old"},"\\u0061":"y"},"spec":{"b":{"c":"1"},"b":{"d":"2"}}`,
      want: sorted(token('2', 'spec', 'b', 'd')),
    },
    {
      name: 'of many equal keys too',
      given: `"spec":{${Array.from({ length: 20 }, (_, i) => `"k${i % 19}":"${i}"`).join(',')}}`,
      want: sorted(
        ...Array.from({ length: 19 }, (_, i) => token(`${i + 1}`, 'spec', `k${(i + 1) % 19}`)),
      ),
    },
  ]
  for (const { name, given, want, status } of cases) {
    test(name, () => {
      const row = encode(`{"kind":"Pod","apiVersion":"v1","metadata":{${NAMED}},${given}}`)
      expect([...row.tokens.toSorted()]).toEqual([...want])
      expect([...row.statusTokens.toSorted()]).toEqual([...(status ?? [])])
    })
  }

  test('labels as fields and by key, annotations, not the columns', () => {
    const row = encode(
      `{"metadata":{${NAMED},"namespace":"n","creationTimestamp":"2026-12-01T03:24:02Z","generateName":"a-","generation":3,"managedFields":[{"manager":"m"}],"labels":{"app.io/x":"1","e":""},"annotations":{"k":"v"}}}`,
    )
    const want = sorted(
      token('a-', 'metadata', 'generateName'),
      token('3', 'metadata', 'generation'),
      token('1', 'metadata', 'labels', 'app.io/x'),
      token('', 'metadata', 'labels', 'e'),
      fieldToken(labelKeyPath(seed), 'app.io/x'),
      fieldToken(labelKeyPath(seed), 'e'),
      token('v', 'metadata', 'annotations', 'k'),
      ...words('app', 'io', 'x', '1', 'e', 'k', 'v'),
    )
    expect([...row.tokens.toSorted()]).toEqual([...want])
  })

  test.each([
    { found: 'a Name', given: '"name":"Silly-Demo_5tn5", "uid":"u1","resourceVersion":"7"' },
    { found: 'keys and values', given: `${NAMED},"labels":{"silly.io/demo":"5tn5"}` },
    { found: 'escapes', given: `${NAMED},"annotations":{"x":"s\\u0069lly\\ndemo\\"5TN5"}` },
    {
      found: 'the one of two equal keys that counts',
      given: `${NAMED},"labels":{"a":"old","a":"silly.demo/5tn5"}`,
      not: 'old',
    },
  ])('words of $found', ({ given, not = '5tn' }) => {
    const { tokens } = encode(`{"metadata":{${given}}}`)
    for (const token of words('silly', 'demo', '5tn5')) expect(tokens).toContain(token)
    for (const token of words(not)) expect(tokens).not.toContain(token)
  })

  test('words of images, wherever they are named, but not of a status', () => {
    const spec = `"spec":{"containers":[{"image":"ghcr.io/silly/demo:1.4.2","name":"main"}],"image":5}`
    const status = `"status":{"containerStatuses":[{"image":"old:1"}]}`
    const { tokens, statusTokens } = encode(`{"metadata":{${NAMED}},${spec},${status}}`)
    for (const token of words('ghcr', 'silly', '1.4.2')) expect(tokens).toContain(token)
    for (const token of words('main', 'old', '5', '1', 'image', '4'))
      expect([...tokens, ...statusTokens]).not.toContain(token)
  })

  test('words of a text are not without end', () => {
    const long = Array.from({ length: 1_200 }, (_, i) => `w${i}`).join(' ')
    const { tokens } = encode(
      `{"metadata":{${NAMED},"annotations":{"k":"${'x'.repeat(65)} ${long}"}}}`,
    )
    for (const token of words('w0', 'w998')) expect(tokens).toContain(token)
    for (const token of words('w999', 'x'.repeat(65))) expect(tokens).not.toContain(token)
  })

  test('are the same from a list and from a watch', () => {
    const fields = `"metadata":{${NAMED}},"spec":{"a":1}`
    const listed = encode(`{${fields}}`)
    const watched = encode(`{"kind":"Pod","apiVersion":"v1",${fields}}`)
    expect(listed).toEqual(watched)
  })

  test('a type that moved has the tokens of its home', () => {
    const of = { group: 'extensions', version: 'v1beta1', resource: 'ingresses', kind: 'Ingress' }
    const row = encode(`{"metadata":{${NAMED}},"spec":{"a":"b"}}`, of)
    const home = typeSeed(storedAs(of))
    expect(row.tokens).toContain(fieldToken(childPath(childPath(home, 'spec'), 'a'), 'b'))
  })
})

describe('nesting', () => {
  test('20,000 levels', () => {
    const deep = `${'['.repeat(10_000)}${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}${']'.repeat(10_000)}`
    const row = encode(`{"metadata":{${NAMED}},"spec":${deep}}`)
    expect(row.tokens).toHaveLength(3)
    expect(json(row)).toContain(deep)
  })

  test('20,000 levels around a number of many digits', () => {
    const deep = `${'['.repeat(20_000)}9223372036854775807${']'.repeat(20_000)}`
    expect(json(encode(`{"metadata":{${NAMED}},"spec":${deep}}`))).toContain(deep)
  })
})

describe('Secrets', () => {
  const digest = (value: string) =>
    Buffer.from(keyring.digest(Buffer.from(value))).toString('base64')
  const given = `{"metadata":{${NAMED},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter2"}},"data":{"a":"aHVudGVyMg==","b":""},"stringData":{"c":"hunter2","d":1},"data2":"x"}`

  test('values are keyed digests, equal when the values are', () => {
    const row = encode(given, SECRET)
    const shown = JSON.parse(json(row))
    expect(shown.data).toEqual({ a: digest('hunter2'), b: digest('') })
    expect(shown.stringData).toEqual({ c: digest('hunter2'), d: digest('1') })
    const path = childPath(childPath(typeSeed({ group: '', resource: 'secrets' }), 'data'), 'a')
    expect(row.tokens).toContain(fieldToken(path, digest('hunter2')))
    expect(row.tokens).not.toContain(fieldToken(path, 'aHVudGVyMg=='))
    expect(json(row)).not.toContain('hunter2')
    for (const word of ['hunter2', 'ahvudgvymg']) {
      const secrets = typeSeed({ group: '', resource: 'secrets' })
      expect(row.tokens).not.toContain(fieldToken(wordPath(secrets), word))
    }
  })

  test('no equal key hides a value from the digests', () => {
    const twice = `{"metadata":{${NAMED}},"data":{"a":"aHVudGVyMg==","a":"eA=="},"data":{"a":"eQ=="}}`
    expect(json(encode(twice, SECRET))).not.toMatch(/aHVudGVyMg==|"eA=="|"eQ=="/)
  })

  test('stored when the administrator chose so, last-applied never', () => {
    const row = encoder(SECRET, 'store')(Buffer.from(given))
    expect(JSON.parse(json(row)).data).toEqual({ a: 'aHVudGVyMg==', b: '' })
    expect(json(row)).not.toContain('last-applied')
  })

  test('another kind with data is left alone', () => {
    expect(json(encode(`{"metadata":{${NAMED}},"data":{"a":"b"}}`))).toContain('"data":{"a":"b"}')
  })
})

describe('what cannot be mirrored is refused, alone', () => {
  const cases: ReadonlyArray<{ name: string; given: string | Buffer; why: RegExp; key?: object }> =
    [
      { name: 'no metadata', given: '{"spec":{}}', why: /no metadata.name/ },
      { name: 'metadata null', given: '{"metadata":null}', why: /no metadata.name/ },
      { name: 'metadata a list', given: '{"metadata":[{"name":"a"}]}', why: /no metadata.name/ },
      { name: 'no name', given: '{"metadata":{"uid":"u"}}', why: /no metadata.name/ },
      {
        name: 'no uid',
        given: '{"metadata":{"name":"a","namespace":"n"}}',
        why: /a has no metadata.uid/,
        key: { namespace: 'n', name: 'a' },
      },
      {
        name: 'no resourceVersion',
        given: '{"metadata":{"name":"a","uid":"u"}}',
        why: /resourceVersion/,
      },
      {
        name: 'invalid UTF-8',
        given: Buffer.from([...Buffer.from(`{"metadata":{${NAMED}},"x":"`), 0xff, 0x22, 0x7d]),
        why: /UTF-8/,
      },
      { name: 'a raw NUL', given: `{"metadata":{${NAMED}},"x":"a\0b"}`, why: /0x00/ },
      { name: 'a raw NUL between values', given: `{"metadata":{${NAMED}},\0"x":1}`, why: /JSON/ },
      { name: 'cut off', given: `{"metadata":{${NAMED}},"x":`, why: /JSON/ },
      { name: 'two objects', given: `{"metadata":{${NAMED}}}{}`, why: /follows/ },
      { name: 'an unknown escape', given: `{"metadata":{${NAMED}},"x":"\\q"}`, why: /JSON/ },
      { name: 'a number that is none', given: `{"metadata":{${NAMED}},"x":01}`, why: /JSON/ },
      { name: 'brackets that do not match', given: `{"metadata":{${NAMED}},"x":[}]}`, why: /JSON/ },
      { name: 'a text', given: '"a"', why: /not a JSON object/ },
    ]
  for (const { name, given, why, key } of cases) {
    test(name, () => {
      const encodeOne = encoder()
      const error = thrown(() => encodeOne(Buffer.from(given as string)))
      expect(error).toBeInstanceOf(InvalidObject)
      expect((error as InvalidObject).message).toMatch(why)
      if (key) expect((error as InvalidObject).key).toEqual(key)
      expect(encodeOne(Buffer.from(`{"metadata":{${NAMED}}}`)).name).toBe('a')
    })
  }
})

function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
