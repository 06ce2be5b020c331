/** Rows are made again from their bytes, or listed anew, and never silently left as they were. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import { printerFor } from '../../src/printers/printers.ts'
import { acquireLease } from '../../src/store/leases.ts'
import { putRemadeRows, readOldRows } from '../../src/store/remake-rows.ts'
import { createObjectEncoder } from '../../src/sync/encode-object.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  PODS,
  SECRETS,
} from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const WIDGETS = { group: 'shop.example.com', version: 'v1', resource: 'widgets' }
const SPEC = {
  syncResources: [{ group: '', resources: ['configmaps', 'pods', 'secrets'] }],
  syncAllCustomResources: true,
}
const BOUNDS = { rows: 100, bytes: 1_000_000 }

let fleet: SyncedFleet
let member: MemberCluster

beforeEach(async () => {
  fleet = await syncedFleet()
  member = await startMemberCluster({ bookmarkSeconds: 3600 })
  for (let i = 0; i < 250; i++) {
    const metadata = { name: `p-${i}`, namespace: 'default', labels: { i: `${i}` } }
    member.put(PODS, { metadata, spec: { nodeName: `n-${i}` }, status: { phase: 'Running' } })
  }
  member.put(SECRETS, { metadata: { name: 's', namespace: 'default' }, data: { k: 'c2VjcmV0' } })
  member.put(CONFIG_MAPS, {
    metadata: { name: 'c', namespace: 'default', annotations: { x: '1', y: '2' } },
    data: { a: 'b' },
  })
})

afterEach(async () => {
  await fleet.stop()
  await member.stop()
})

async function mirrored() {
  await fleet.register('dot-01', { apiserver: member.url, ...SPEC })
  await fleet.ready('dot-01')
}

/** Everything of every row. */
const allRows = () =>
  fleet.query(
    `select o.*, s.tokens as status_tokens from object o
     left join object_status s using (cluster_id, type_id, namespace, name)
     order by o.type_id, o.namespace, o.name`,
  )
const logLength = async () => (await fleet.query('select 1 from change')).length
const listsOf = (of: GroupResource) =>
  member.requests({ of, kind: 'list' }).filter(({ query }) => query.get('limit') !== '1').length
const remaking = async () =>
  (await fleet.query('select 1 from cluster_resource where remake')).length

/** As after an upgrade: other code made these rows, with other cells, tokens and columns. */
async function ageRows(condition = 'true') {
  await fleet.query(`insert into column_set (digest, columns) values ('old', '[]')`)
  await fleet.query(
    `update object set cells = '"old"', tokens = '{1,2}', rv_offset = 0,
       columns_id = (select id from column_set where digest = 'old') where ${condition}`,
  )
  await fleet.query(`update object_status set tokens = '{3}' where ${condition}`)
}

describe('after an upgrade', () => {
  test('rows are made again without a list, without a log entry, with the position kept', async () => {
    await mirrored()
    await fleet.stopSyncer()
    const before = await allRows()
    const log = await logLength()
    const position = await fleet.position('dot-01', PODS)
    await ageRows()
    await fleet.query(
      `update cluster_resource set columns_id = (select id from column_set where digest = 'old')`,
    )
    await fleet.startSyncer()
    await until(async () => JSON.stringify(await allRows()) === JSON.stringify(before))
    await until(async () => (await remaking()) === 0)
    expect(await logLength()).toBe(log)
    expect(await fleet.position('dot-01', PODS)).toBe(position)
    expect([listsOf(PODS), listsOf(SECRETS), listsOf(CONFIG_MAPS)]).toEqual([1, 1, 1])
    expect(await fleet.metrics()).toContain('fleetglass_sync_rows_total{change="remade"} 252')
  })

  test('what a killed process left half done is finished', async () => {
    await mirrored()
    await fleet.stopSyncer()
    const before = await allRows()
    await ageRows(`name like 'p-1%'`)
    await fleet.query('update cluster_resource set remake = true')
    await fleet.startSyncer()
    await until(async () => JSON.stringify(await allRows()) === JSON.stringify(before))
    expect(listsOf(PODS)).toBe(1)
  })

  test('a row that changed since it was read is left alone', async () => {
    await mirrored()
    await fleet.stopSyncer()
    const { store, keyring } = fleet
    await ageRows(`name in ('p-0', 'p-1')`)
    const [row] = await fleet.query<{ cluster_id: number; type_id: number; columns_id: number }>(
      `select cluster_id, type_id, columns_id from object where name = 'p-2'`,
    )
    const clusterId = row!.cluster_id
    const lease = await acquireLease(store, { clusterId, holder: 'test', seconds: 60 })
    const target = { lease: lease!, typeId: row!.type_id, columnsId: row!.columns_id }
    const of = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' }
    const encode = createObjectEncoder({
      ...{ cluster: 'dot-01', of, keyring, printer: printerFor(of), secretValues: 'store' },
    })
    const old = await readOldRows(store, target, { after: undefined, bounds: BOUNDS })
    expect(old.map(({ name }) => name)).toEqual(['p-0', 'p-1'])
    await fleet.query(`update object set resource_version = '999999' where name = 'p-1'`)
    expect(
      await putRemadeRows(
        store,
        target,
        old.map(({ bytes }) => encode(bytes)),
      ),
    ).toBe(1)
    const cells = await fleet.rows('dot-01', PODS)
    expect(cells.get('default/p-0')?.cells).not.toBe('"old"')
    expect(cells.get('default/p-1')).toMatchObject({ cells: '"old"', resourceVersion: '999999' })
  })

  test('a batch is bounded by bytes, and is never empty', async () => {
    await mirrored()
    await fleet.stopSyncer()
    await ageRows()
    const [row] = await fleet.query<{ cluster_id: number; type_id: number }>(
      `select cluster_id, type_id from object where name = 'p-2'`,
    )
    const lease = { clusterId: row!.cluster_id, holder: '', epoch: 0n, log: { lastSeq: 0n } }
    const target = { lease, typeId: row!.type_id, columnsId: -1 }
    const bounds = { rows: 100, bytes: 1 }
    const first = await readOldRows(fleet.store, target, { after: undefined, bounds })
    expect(first.map(({ name }) => name)).toEqual(['p-0'])
    const after = { namespace: 'default', name: 'p-98' }
    const last = await readOldRows(fleet.store, target, { after, bounds: BOUNDS })
    expect(last.map(({ name }) => name)).toEqual(['p-99'])
  })
})

test('columns of a definition change: its rows are made again, and nothing is listed', async () => {
  const definition = (columns: object[]) => ({
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, additionalPrinterColumns: columns }],
    },
  })
  member.put(CUSTOM_RESOURCE_DEFINITIONS, definition([]))
  member.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' }, spec: { size: 3 } })
  await mirrored()
  const cells = async () => (await fleet.rows('dot-01', WIDGETS)).get('default/w')?.cells
  await until(async () => (await cells()) !== undefined)
  const lists = listsOf(WIDGETS)
  const log = await logLength()
  const size = { name: 'Size', type: 'integer', jsonPath: '.spec.size' }
  member.put(CUSTOM_RESOURCE_DEFINITIONS, definition([size]))
  await until(async () => (await cells()) === '"w",3')
  await until(async () => (await remaking()) === 0)
  expect(listsOf(WIDGETS)).toBe(lists)
  expect(await logLength()).toBe(log)
  // It is followed as before.
  member.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' }, spec: { size: 4 } })
  await until(async () => (await cells()) === '"w",4')
})

describe('what bytes alone cannot give is listed anew', () => {
  test('further pruned paths, and back', async () => {
    await mirrored()
    const text = async () => (await fleet.rows('dot-01', CONFIG_MAPS)).get('default/c')!.text
    const whole = await text()
    expect(whole).toContain('"x":"1","y":"2"')
    await fleet.stopSyncer()
    await fleet.startSyncer({}, ["metadata.annotations['x']", 'data'])
    await until(async () => !(await text()).includes('"x"'))
    expect(await text()).not.toContain('"data"')
    expect(await text()).toContain('"y":"2"')
    // What is not there is not found.
    await fleet.stopSyncer()
    await fleet.startSyncer()
    await until(async () => (await text()) === whole)
  })

  test('other namespaces', async () => {
    for (const namespace of ['a', 'b'])
      member.put(CONFIG_MAPS, { metadata: { name: 'c', namespace } })
    await fleet.register('dot-01', { apiserver: member.url, ...SPEC, namespaces: ['a'] })
    await fleet.ready('dot-01')
    const keys = async () => [...(await fleet.rows('dot-01', CONFIG_MAPS)).keys()].join()
    expect(await keys()).toBe('a/c')
    await fleet.patch('dot-01', { spec: { namespaces: ['b', 'default'] } })
    await until(async () => (await keys()) === 'b/c,default/c')
    await fleet.patch('dot-01', { spec: { namespaces: null } })
    await until(async () => (await keys()) === 'a/c,b/c,default/c')
  })
})
