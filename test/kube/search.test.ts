import { describe, expect, test } from 'vitest'
import { nearest } from '../../src/kube/nearest.ts'
import { parseSearch } from '../../src/kube/search.ts'
import { parseSearchTime } from '../../src/kube/search-time.ts'

const S = 'search.clusterpedia.io'
const parse = (query: Readonly<Record<string, string>>) => parseSearch(new URLSearchParams(query))
const byLabel = (labelSelector: string) => parse({ labelSelector })

describe('times', () => {
  const cases: ReadonlyArray<{ readonly text: string; readonly want: string | undefined }> = [
    { text: '1764547200', want: '2025-12-01T00:00:00.000Z' },
    { text: '1764547200123', want: '2025-12-01T00:00:00.123Z' },
    { text: '2026-12-01', want: '2026-12-01T00:00:00.000Z' },
    { text: '2026-12-01 03:04:05', want: '2026-12-01T03:04:05.000Z' },
    { text: '2026-12-01T03:04:05Z', want: '2026-12-01T03:04:05.000Z' },
    { text: '2026-12-01T03:04:05.5+02:00', want: '2026-12-01T01:04:05.500Z' },
    { text: '2024-02-29', want: '2024-02-29T00:00:00.000Z' },
    { text: '2023-02-29', want: undefined },
    { text: '2026-13-01', want: undefined },
    { text: '2026-12-01T25:00:00Z', want: undefined },
    { text: '2026-12-01T03:04:05', want: undefined },
    { text: '12345', want: undefined },
    { text: 'yesterday', want: undefined },
    { text: '', want: undefined },
  ]
  for (const { text, want } of cases) {
    test(text || 'nothing', () => expect(parseSearchTime(text)?.toISOString()).toBe(want))
  }
})

describe('order', () => {
  const cases: ReadonlyArray<{ readonly name: string; readonly query: Record<string, string> }> = [
    {
      name: 'as typed in the label, not as a set would be sorted',
      query: { labelSelector: `app,${S}/orderby in (namespace_desc, cluster, created_at_desc)` },
    },
    { name: 'of the URL', query: { orderby: 'namespace desc,cluster, created_at DESC' } },
    {
      name: 'of the URL before that of the label',
      query: {
        orderby: 'namespace_desc,cluster asc,created_at_desc',
        labelSelector: `${S}/orderby=name`,
      },
    },
  ]
  for (const { name, query } of cases) {
    test(name, () => {
      expect(parse(query).order).toEqual([
        { by: 'namespace', descending: true },
        { by: 'cluster', descending: false },
        { by: 'created_at', descending: true },
      ])
    })
  }
})

describe('conditions', () => {
  test('all that a label selector can hold', () => {
    const search = byLabel(
      `${S}/clusters in (a,b),${S}/clusters!=c,${S}/cluster-label.env notin (x),${S}/namespaces=n,` +
        `${S}/names notin (p,q),${S}/fuzzy-name in (f,g),${S}/since=1764547200,${S}/limit=5,` +
        `${S}/offset=6,${S}/with-continue=true,${S}/with-remaining-count=false,app!=z`,
    )
    expect(search).toEqual({
      clusters: [
        { on: 'name', operator: 'In', values: ['a', 'b'] },
        { on: 'name', operator: 'NotIn', values: ['c'] },
        { on: 'label', requirement: { key: 'env', operator: 'NotIn', values: ['x'] } },
      ],
      conditions: [
        { on: 'namespace', operator: 'In', values: ['n'] },
        { on: 'name', operator: 'NotIn', values: ['p', 'q'] },
        { on: 'fuzzy-name', contains: ['f', 'g'] },
        { on: 'created', since: new Date(1764547200000) },
        { on: 'label', requirement: { key: 'app', operator: 'NotIn', values: ['z'] } },
      ],
      order: [],
      ...{ limit: 5, offset: 6, withContinue: true, withRemainingCount: false },
      ...{ onlyMetadata: false, strictVersion: false },
    })
  })

  test.each([
    { looksFor: 'the end of a name', text: '-x5qnn' },
    { looksFor: 'the middle of a name', text: '.example.' },
    { looksFor: 'more than a label value can hold', text: 'n'.repeat(253) },
  ])('what is searched for is no label value: $looksFor', ({ text }) => {
    expect(byLabel(`${S}/fuzzy-name=${text},${S}/names in (${text})`).conditions).toEqual([
      { on: 'name', operator: 'In', values: [text] },
      { on: 'fuzzy-name', contains: [text] },
    ])
  })

  test.each([
    { of: { labelSelector: `${S}/text=Silly-Demo:1.4.2` }, words: ['silly', 'demo', '1.4.2'] },
    { of: { labelSelector: `${S}/text in (b,a,b)` }, words: ['b', 'a'] },
    { of: { text: 'ghcr.io/x 北京, É' }, words: ['ghcr', 'io', 'x', '北京', 'é'] },
    { of: { text: 'v1.28.3-rc.1 10.0.0.1:80.' }, words: ['v1.28.3', 'rc', '1', '10.0.0.1', '80'] },
    { of: { text: '%_\\' + "a'b" }, words: ['a', 'b'] },
  ])('words: $words', ({ of, words }) => {
    expect(parse(of as Record<string, string>).conditions).toEqual([{ on: 'text', words }])
  })

  test('a field compared, by label and by field selector: both hold', () => {
    const search = parse({
      labelSelector: `${S}/field-gte.spec.replicas=3,${S}/field-lt.spec.containers[].resources.limits['a.b/c']==1Gi`,
      fieldSelector: 'spec.replicas<=10',
    })
    const requirements = [
      { path: [{ key: 'spec' }, { key: 'replicas' }], operator: 'Gte', value: '3' },
      {
        path: [
          ...[{ key: 'spec' }, { key: 'containers' }, { every: true }],
          ...[{ key: 'resources' }, { key: 'limits' }, { key: 'a.b/c' }],
        ],
        ...{ operator: 'Lt', value: '1Gi' },
      },
      { path: [{ key: 'spec' }, { key: 'replicas' }], operator: 'Lte', value: '10' },
    ]
    expect(search.conditions).toEqual(
      requirements.map((requirement) => ({ on: 'field', requirement })),
    )
  })

  test('a query that is given but empty is not given', () => {
    expect(parse({ clusters: '', names: '', orderby: '' })).toMatchObject({
      ...{ clusters: [], conditions: [], order: [] },
    })
  })

  test('a query given several times is one list', () => {
    const search = parseSearch(new URLSearchParams('names=a,b&names=c'))
    expect(search.conditions).toEqual([{ on: 'name', operator: 'In', values: ['a', 'b', 'c'] }])
  })

  test('an order by a field that came before says nothing new', () => {
    const { order } = parseSearch(new URLSearchParams('orderby=name desc,cluster,name,cluster'))
    expect(order).toEqual([
      { by: 'name', descending: true },
      { by: 'cluster', descending: false },
    ])
  })

  const numbered = (count: number, text: string) =>
    Array.from({ length: count }, (_, i) => `${text}${i}`).join(',')
  const many: ReadonlyArray<readonly [what: string, query: Record<string, string>]> = [
    ['labels', { labelSelector: numbered(201, 'a') }],
    ['fields', { fieldSelector: numbered(201, '!a') }],
    ['parts of a name', { fuzzyName: numbered(201, 'a') }],
    ['words', { text: numbered(201, 'a') }],
    [
      'all together',
      { labelSelector: numbered(100, 'a'), fieldSelector: numbered(100, 'a'), names: 'x' },
    ],
  ]
  test.each(many)('400 for more conditions than a plan can bear: %s', (_what, query) => {
    const message = '201 conditions are asked for: must be no more than 200'
    expect(() => parseSearch(new URLSearchParams(query))).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message }),
    )
  })

  const refused: ReadonlyArray<{ readonly selector: string; readonly message: string }> = [
    { selector: `${S}/offset in (1,2)`, message: `"${S}/offset" takes exactly one value` },
    {
      selector: `${S}/with-continue=yes`,
      message: `"${S}/with-continue": Invalid value: "yes": must be true or false`,
    },
    {
      selector: `${S}/since!=1764547200`,
      message: `the search label "${S}/since" takes only =, == and in`,
    },
    { selector: `!${S}/since`, message: `the search label "${S}/since" takes only =, == and in` },
    { selector: `${S}/limit>5`, message: `the search label "${S}/limit" takes only =, == and in` },
    {
      selector: 'internalstorage.clusterpedia.io/owner-seniority=1',
      message:
        '"internalstorage.clusterpedia.io/owner-seniority" needs the owner\'s name or UID beside it',
    },
    {
      selector: `${S}/text=--`,
      message: `"${S}/text": Invalid value: "--": must have a word of letters and digits, and none of more than 64`,
    },
    {
      selector: `${S}/text=${'a'.repeat(65)}`,
      message: `"${S}/text": Invalid value: "${'a'.repeat(65)}": must have a word of letters and digits, and none of more than 64`,
    },
    {
      selector: `${S}/text!=a`,
      message: `the search label "${S}/text" takes only =, == and in`,
    },
    {
      selector: `${S}/field-gt=3`,
      message: `"${S}/field-gt" needs the path of a field: "${S}/field-gt.spec.replicas"`,
    },
    {
      selector: `${S}/field-gt.spec.replicas>3`,
      message: `the search label "${S}/field-gt.spec.replicas" takes only = and ==, and one value`,
    },
    {
      selector: `${S}/field-gt.spec.replicas in (1,2)`,
      message: `the search label "${S}/field-gt.spec.replicas" takes only = and ==, and one value`,
    },
    {
      selector: `${S}/field-gt.spec.replicas=many`,
      message: `"${S}/field-gt.spec.replicas": Invalid value: "many": must be a number, a quantity (900m, 1Gi) or a time (2006-01-02, 2006-01-02 15:04:05, RFC 3339)`,
    },
    {
      selector: `${S}/field-gt.spec..replicas=1`,
      message:
        "invalid selector: 'spec..replicas'; can't understand 'spec..replicas': a field name is missing",
    },
    {
      selector: `${S}/field-gq.spec.replicas=1`,
      message: `unknown search label "${S}/field-gq.spec.replicas"`,
    },
    {
      selector: 'shadow.clusterpedia.io/cluster-name=a',
      message: 'unknown search label "shadow.clusterpedia.io/cluster-name"',
    },
    {
      selector: `${S}/cluster-label.=x`,
      message: `unable to parse requirement: <nil>: Invalid value: "${S}/cluster-label.": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    },
  ]
  for (const { selector, message } of refused) {
    test(`400 for ${selector}`, () => {
      expect(() => byLabel(selector)).toThrow(
        expect.objectContaining({ reason: 'BadRequest', message }),
      )
    })
  }
})

describe('what someone probably meant', () => {
  const known = ['clusters', 'namespaces', 'names', 'fuzzyName']
  const cases: ReadonlyArray<{ readonly word: string; readonly want: string | undefined }> = [
    { word: 'cluster', want: 'clusters' },
    { word: 'namespace', want: 'namespaces' },
    { word: 'fuzzyname', want: 'fuzzyName' },
    { word: 'whereSQL', want: undefined },
    { word: '', want: undefined },
  ]
  for (const { word, want } of cases) {
    test(`${word || 'nothing'}: ${want}`, () => expect(nearest(word, known)).toBe(want))
  }
})
