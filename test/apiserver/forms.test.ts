/** The forms an answer can have: Table, metadata, JSON, YAML, indented; and what does not get lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { customResourcePrinter } from '../../src/printers/custom-resource.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const KUBECTL_GET = `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

const WIDGETS = {
  ...{ group: 'widgets.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' },
  ...{ namespaced: true, listKind: 'WidgetCollection' },
}
const SCALERS = {
  ...{ group: 'autoscaling', resource: 'horizontalpodautoscalers' },
  ...{ kind: 'HorizontalPodAutoscaler', namespaced: true },
}
const ODD_WIDGET =
  '{"metadata":{"name":"odd","namespace":"shop","uid":"u-odd","resourceVersion":"12345678901234567890","creationTimestamp":"2026-12-01T11:59:00Z"},' +
  '"spec":{"big":12345678901234567890123,"exact":1.10,"tiny":1e-400,"e":1E+2,"nul":"a\\u0000b","lone":"\\ud800","emoji":"😀","esc":"\\u003c\\/","yes":"yes","multi":"a\\nb\\n","empty":{},"none":[],"t":"2026-12-01","n":"007"}}'

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
let viewer: Reader
/** Sees all that {@link READERS} ask for; in other namespaces there is more. */
let shopper: Reader

const READERS = ['administrator', 'viewer'] as const
const readerOf = (who: (typeof READERS)[number]) => (who === 'viewer' ? shopper : admin)

beforeAll(async () => {
  database = await testDatabase()
  const { store } = database
  const one = await FilledCluster.create(store, 'dot-01')
  const two = await FilledCluster.create(store, 'dot-02')
  const sizeAndAge = widgets([
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ])
  const colourAndSize = widgets([
    { name: 'Colour', type: 'string', jsonPath: '.spec.colour', priority: 1 },
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
  ])
  await one.fill(sizeAndAge, [
    { metadata: metadata('a', { namespace: 'shop' }), spec: { size: 3 } },
    Buffer.from(ODD_WIDGET),
  ])
  await two.fill(colourAndSize, [
    { metadata: metadata('b', { namespace: 'shop' }), spec: { size: 4, colour: 're"d' } },
    { metadata: metadata('a', { namespace: 'hidden' }), spec: { size: 5 } },
  ])
  const versions = ['autoscaling/v2', 'autoscaling/v1']
  await one.fill({ ...SCALERS, version: 'v2', servedVersions: versions }, [
    { metadata: metadata('web', { namespace: 'shop' }) },
  ])
  await two.fill({ ...SCALERS, version: 'v1', servedVersions: ['autoscaling/v1'] }, [
    { metadata: metadata('api', { namespace: 'shop' }) },
  ])
  fleet = await fleetServer(store, { clock: new ManualClock('2026-12-01T12:00:00Z') })
  admin = fleet.admin
  shopper = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop', 'x'], apiGroups: ['*'], resources: ['*'] },
  ])
  viewer = await fleet.viewer([
    { clusters: ['dot-02'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

function widgets(columns: Parameters<typeof customResourcePrinter>[0]): MemberType {
  return { ...WIDGETS, printer: customResourcePrinter(columns) }
}

const WIDGET_PATH = '/apis/widgets.example.com/v1/namespaces/shop/widgets'

interface Column {
  readonly name: string
}
interface Row {
  readonly cells: readonly unknown[]
  readonly object: { readonly kind: string; readonly apiVersion: string; readonly spec?: object }
}

describe.each(READERS)('a Table, for the %s,', (who) => {
  const reader = () => readerOf(who)

  test('unites the columns of clusters that differ, in a stable order', async () => {
    const { json, contentType } = await reader().ask(WIDGET_PATH, { accept: KUBECTL_GET })
    expect(contentType).toBe('application/json')
    expect(json).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
    expect(json.columnDefinitions.map(({ name }: Column) => name)).toEqual([
      ...['Cluster', 'Name', 'Size', 'Age', 'Colour'],
    ])
    expect(json.columnDefinitions[0]).toMatchObject({ type: 'string', format: '', priority: 0 })
    expect(json.rows.map(({ cells }: Row) => cells)).toEqual([
      ['dot-01', 'a', 3, '9h', null],
      ['dot-01', 'odd', null, '60s', null],
      ['dot-02', 'b', 4, null, 're"d'],
    ])
  })

  test('has the columns of the one member under its prefix, and of what a viewer sees', async () => {
    const names = ['Cluster', 'Name', 'Colour', 'Size']
    for (const answer of [
      await reader().askMember('dot-02', WIDGET_PATH, { accept: TABLE }),
      await viewer.ask(WIDGET_PATH, { accept: TABLE }),
    ]) {
      expect(answer.json.columnDefinitions.map(({ name }: Column) => name)).toEqual(names)
      expect(answer.json.rows).toHaveLength(1)
    }
  })

  const objects: ReadonlyArray<{ readonly query: string; readonly want: object | null }> = [
    { query: '', want: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } },
    { query: '?includeObject=Metadata', want: { kind: 'PartialObjectMetadata' } },
    { query: '?includeObject=None', want: null },
    { query: '?includeObject=Object', want: { kind: 'Widget', spec: { size: 3 } } },
  ]
  for (const { query, want } of objects) {
    test(`holds of each object what is asked for: ${query || 'nothing said'}`, async () => {
      const { json } = await reader().ask(WIDGET_PATH + query, { accept: TABLE })
      const [row] = json.rows as readonly Row[]
      if (want === null) return expect(row?.object).toBeNull()
      expect(row?.object).toMatchObject(want)
      expect(row?.object).toHaveProperty('metadata.name', 'a')
    })
  }

  test('of an older client', async () => {
    const { json } = await reader().ask(WIDGET_PATH, {
      accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
    })
    expect(json.apiVersion).toBe('meta.k8s.io/v1beta1')
    expect(json.rows[0].object.apiVersion).toBe('meta.k8s.io/v1beta1')
  })

  test('of one object', async () => {
    const { json } = await reader().ask(`${WIDGET_PATH}/odd`, { accept: TABLE })
    expect(json.metadata).toEqual({ resourceVersion: '12345678901234567890' })
    expect(json.rows).toHaveLength(1)
  })

  test('without rows', async () => {
    const { json } = await reader().ask('/apis/widgets.example.com/v1/namespaces/x/widgets', {
      accept: TABLE,
    })
    expect(json.rows).toEqual([])
    expect(json.columnDefinitions).toHaveLength(5)
  })
})

describe.each(READERS)('JSON, for the %s,', (who) => {
  const reader = () => readerOf(who)

  test('has the list kind of the member, and a revision of the fleet', async () => {
    const { json } = await reader().ask(WIDGET_PATH)
    expect(json).toMatchObject({ kind: 'WidgetCollection', apiVersion: 'widgets.example.com/v1' })
    expect(json.metadata.resourceVersion).toMatch(/^\d+$/)
    expect(json.items[0]).toMatchObject({ kind: 'Widget', apiVersion: 'widgets.example.com/v1' })
  })

  test('keeps every digit, escape and odd character', async () => {
    const { text } = await reader().ask(`${WIDGET_PATH}/odd`)
    const spec = ODD_WIDGET.slice(ODD_WIDGET.indexOf('"spec"'), -1)
    expect(text).toContain(spec)
    expect(text).toContain('"shadow.clusterpedia.io/cluster-name":"dot-01"')
    expect(text.endsWith('}\n')).toBe(true)
    expect((await reader().ask(WIDGET_PATH)).text).toContain(spec)
  })

  test('indented keeps them too', async () => {
    const compact = await reader().ask(WIDGET_PATH)
    for (const asking of [{ headers: { 'user-agent': 'curl/8.5.0' } }, {}]) {
      const query = 'headers' in asking ? '' : '?pretty=true'
      const pretty = await reader().ask(WIDGET_PATH + query, asking)
      // As kube-apiserver: without a newline at the end.
      expect(pretty.text).toBe(indented(compact.text))
      expect(pretty.text).toContain('"big": 12345678901234567890123,')
      expect(pretty.text).toContain('"empty": {},')
      expect(pretty.text).toContain('"tiny": 1e-400,')
    }
    const curl = { 'user-agent': 'curl/8.5.0' }
    const refused = await reader().ask(`${WIDGET_PATH}?pretty=false`, { headers: curl })
    expect(refused.text).toBe(compact.text)
    const one = await reader().ask(`${WIDGET_PATH}/odd?pretty=1`)
    expect(one.text).toContain('\n    "exact": 1.10,\n')
  })
})

/** JSON.stringify would lose digits: every token is put where it would stand. */
function indented(json: string): string {
  let depth = 0
  const newLine = () => `\n${'  '.repeat(depth)}`
  return json.trim().replace(/"(?:\\.|[^"\\])*"|\{\}|\[\]|[{}[\],:]|[^\s{}[\],:"]+/g, (token) => {
    if (token === '{' || token === '[') {
      depth++
      return token + newLine()
    }
    if (token === '}' || token === ']') {
      depth--
      return newLine() + token
    }
    if (token === ',') return token + newLine()
    return token === ':' ? ': ' : token
  })
}

describe.each(READERS)('metadata only, for the %s,', (who) => {
  const reader = () => readerOf(who)

  test('of a list', async () => {
    const { json } = await reader().ask(WIDGET_PATH, { accept: PARTIAL_LIST })
    expect(json).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' })
    expect(Object.keys(json.items[0])).toEqual(['kind', 'apiVersion', 'metadata'])
  })
  test('of one object', async () => {
    const { json } = await reader().ask(`${WIDGET_PATH}/a`, { accept: PARTIAL })
    expect(json).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    expect(json).not.toHaveProperty('spec')
  })
  test('by URL, under the own kind of each', async () => {
    const { json } = await reader().ask(`${WIDGET_PATH}?onlyMetadata=true`)
    expect(json.kind).toBe('WidgetCollection')
    expect(json.items[0]).toMatchObject({ kind: 'Widget', apiVersion: 'widgets.example.com/v1' })
    expect(json.items[0]).not.toHaveProperty('spec')
    const table = await reader().ask(`${WIDGET_PATH}?onlyMetadata=true&includeObject=Object`, {
      accept: TABLE,
    })
    expect(table.json.rows[0].object).not.toHaveProperty('spec')
  })
  test('of a list as one object, or the reverse, is 406', async () => {
    const list = await reader().ask(WIDGET_PATH, { accept: PARTIAL })
    const one = await reader().ask(`${WIDGET_PATH}/a`, { accept: PARTIAL_LIST })
    expect([list.status, one.status]).toEqual([406, 406])
  })
})

describe.each(READERS)('YAML, for the %s,', (who) => {
  const reader = () => readerOf(who)

  const accept = 'application/yaml'
  test('of a list says what the JSON says', async () => {
    const yaml = await reader().ask(WIDGET_PATH, { accept })
    expect(yaml.contentType).toBe('application/yaml')
    const { json } = await reader().ask(WIDGET_PATH)
    expect(parse(yaml.text, { version: '1.1' })).toEqual(json)
    expect(yaml.text).toContain('big: 12345678901234567890123\n')
    expect(yaml.text).toContain('exact: 1.10\n')
    expect(yaml.text).toContain('"yes": "yes"\n')
    expect(yaml.text).toContain('"n": "007"\n')
  })
  test('of one object', async () => {
    const yaml = await reader().ask(`${WIDGET_PATH}/odd`, { accept })
    const { json } = await reader().ask(`${WIDGET_PATH}/odd`)
    expect(parse(yaml.text, { version: '1.1' })).toEqual(json)
    expect(yaml.text).toMatch(/^apiVersion: widgets\.example\.com\/v1\nkind: Widget\nmetadata:\n/)
  })
  test('of nothing, and of a Table', async () => {
    const empty = await reader().ask('/apis/widgets.example.com/v1/namespaces/x/widgets', {
      accept,
    })
    expect(parse(empty.text)).toMatchObject({ kind: 'WidgetCollection', items: [] })
    const table = await reader().ask(WIDGET_PATH, { accept: TABLE.replace('json', 'yaml') })
    const { json } = await reader().ask(WIDGET_PATH, { accept: TABLE })
    expect(parse(table.text, { version: '1.1' })).toEqual(json)
  })
})

describe.each(READERS)('objects of several versions, for the %s,', (who) => {
  const reader = () => readerOf(who)

  const v1 = '/apis/autoscaling/v1/namespaces/shop/horizontalpodautoscalers'
  const v2 = v1.replace('/v1/', '/v2/')
  const WARNING =
    '299 - "not in version autoscaling/v1 are the objects of dot-01 (autoscaling/v2); strictVersion=true leaves them out"'

  test('are all in a Table and in metadata, without a warning', async () => {
    for (const path of [v1, v2]) {
      const table = await reader().ask(path, { accept: TABLE })
      expect(table.json.rows.map(({ cells }: Row) => cells[0])).toEqual(['dot-01', 'dot-02'])
      const partial = await reader().ask(path, { accept: PARTIAL_LIST })
      expect(partial.json.items).toHaveLength(2)
      expect([...table.warnings, ...partial.warnings]).toEqual([])
    }
  })
  test('keep their own apiVersion in full, and a warning names the clusters', async () => {
    const { json, warnings } = await reader().ask(v1)
    expect(json.apiVersion).toBe('autoscaling/v1')
    const versions = json.items.map(({ apiVersion }: Row['object']) => apiVersion)
    expect(versions).toEqual(['autoscaling/v2', 'autoscaling/v1'])
    expect(warnings).toEqual([WARNING])
    expect((await reader().ask(`${v1}/web`)).warnings).toEqual([WARNING])
    expect((await reader().ask(`${v1}/api`)).warnings).toEqual([])
  })
  test('are left out when the version is to be strict', async () => {
    const { json, warnings } = await reader().ask(`${v1}?strictVersion=true`)
    expect(json.items.map(({ apiVersion }: Row['object']) => apiVersion)).toEqual([
      'autoscaling/v1',
    ])
    expect(warnings).toEqual([])
    expect((await reader().ask(`${v1}/web?strictVersion=true`)).status).toBe(404)
  })
  test('a version that nobody serves to the viewer does not exist for them', async () => {
    expect((await viewer.ask(v2)).status).toBe(404)
    expect((await viewer.ask(v1)).json.items).toHaveLength(1)
  })
})
