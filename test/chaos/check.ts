/** Whether the store says what the members hold, and its change log what happened. */
import { isDeepStrictEqual } from 'node:util'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import type { Store } from '../../src/store/connect.ts'
import { replayed } from '../sync/in-step.ts'
import { mirrored } from '../sync/synced-fleet.ts'
import { type ChaosFleet, type ChaosMember, TYPES } from './fleet.ts'

/** How long after the last fault everything must be right. */
const SETTLE_MILLISECONDS = 45_000

/** @throws with what differs, when it still does after a while. */
export async function expectTruth(fleet: ChaosFleet): Promise<void> {
  const end = Date.now() + SETTLE_MILLISECONDS
  for (;;) {
    const wrong = await findWrong(fleet).catch((error: unknown) => `cannot compare: ${error}`)
    if (wrong === undefined) break
    if (Date.now() > end) {
      throw new Error(`${wrong}\n--- syncers said last:\n${fleet.said.slice(-40).join('')}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  for (const member of fleet.members) {
    for (const of of TYPES) await expectLog(fleet.store, member, of)
  }
  await expectNumbers(fleet.store)
}

async function findWrong({ store, members }: ChaosFleet): Promise<string | undefined> {
  for (const { name, cluster } of members) {
    for (const of of TYPES) {
      const stored = await readRows(store, name, of)
      const held = new Map(
        cluster.server
          .list(of)
          .map((one) => [`${one.namespace}/${one.name}`, mirrored(one.text, name)]),
      )
      for (const [key, text] of held) {
        if (stored.get(key) === text) continue
        const what = stored.has(key) ? 'is stored as something else' : 'is not stored'
        return `${name} ${of.resource} ${key} ${what}`
      }
      for (const key of stored.keys()) {
        if (!held.has(key)) return `${name} ${of.resource} ${key} is stored and gone`
      }
    }
  }
  const { rows } = await store.pool.query(
    'select count(*)::int as left from change_batch where last_revision is null',
  )
  return rows[0].left === 0 ? undefined : 'the sequencer has not numbered everything'
}

const OF_TYPE = `join resource_type t on t.id = o.type_id join cluster c on c.id = o.cluster_id
  where c.name = $1 and t.api_group = $2 and t.resource = $3`

async function readRows(store: Store, name: string, of: GroupResource) {
  const { rows } = await store.pool.query<{ key: string; text: string }>(
    `select o.namespace || '/' || o.name as key, head || metadata || tail as text
     from object o ${OF_TYPE}`,
    [name, of.group, of.resource],
  )
  return new Map(rows.map(({ key, text }) => [key, text]))
}

interface Entry {
  readonly op: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resource_version: string
}

/** The log leads to the rows, names only states that the member had, and names them in their order. */
async function expectLog(store: Store, member: ChaosMember, of: GroupResource): Promise<void> {
  const { rows: entries } = await store.pool.query<Entry>(
    `select op::text as op, o.namespace, o.name, o.uid, o.resource_version
     from change o ${OF_TYPE} order by seq`,
    [member.name, of.group, of.resource],
  )
  const { rows } = await store.pool.query<{ key: string; state: string }>(
    `select o.namespace || '/' || o.name as key, o.uid || ' ' || o.resource_version as state
     from object o ${OF_TYPE}`,
    [member.name, of.group, of.resource],
  )
  const stored = new Map(rows.map(({ key, state }) => [key, state]))
  if (!isDeepStrictEqual(replayed(entries), stored)) {
    throw new Error(`the log of ${member.name} ${of.resource} does not lead to its rows`)
  }
  const last = new Map<string, number>()
  for (const entry of entries) {
    const { op, namespace, name, uid, resource_version: resourceVersion } = entry
    const number = member.stateNumber(of, { namespace, name, uid, resourceVersion })
    const key = `${namespace}/${name}`
    const before = last.get(key) ?? -1
    const follows = number !== undefined && (op === 'D' ? number === before : number > before)
    if (!follows) {
      throw new Error(`${member.name} ${of.resource}: ${JSON.stringify(entry)} did not happen then`)
    }
    last.set(key, number)
  }
}

/** Before any change. */
const FIRST_REVISION = 1

/** Sequence numbers of a cluster, and revisions of the fleet, have no hole and no number twice. */
async function expectNumbers(store: Store): Promise<void> {
  const { rows } = await store.pool.query(
    `select c.name, l.last_seq::int, count(*)::int as entries, max(h.seq)::int as highest,
       (select sum(last_seq - first_seq + 1)::int from change_batch b where b.cluster_id = c.id)
         as batched
     from cluster c join cluster_lease l on l.cluster_id = c.id
     join change h on h.cluster_id = c.id group by c.id, c.name, l.last_seq`,
  )
  for (const { name, last_seq, entries, highest, batched } of rows) {
    if (new Set([last_seq, entries, highest, batched]).size > 1) {
      const numbers = JSON.stringify({ last_seq, entries, highest, batched })
      throw new Error(`the change log of ${name} has holes: ${numbers}`)
    }
  }
  const { rows: revisions } = await store.pool.query(
    `select latest::int - $1 as given, (select sum(last_seq - first_seq + 1)::int from change_batch) as changes,
       (select max(last_revision)::int - $1 from change_batch) as highest
     from fleet_revision`,
    [FIRST_REVISION],
  )
  const { given, changes, highest } = revisions[0]
  if (given !== highest || changes !== given) {
    throw new Error(`fleet revisions have holes: ${JSON.stringify(revisions[0])}`)
  }
}
