/** What must be true of a mirror after every fault: rows, change log and condition. */
import { expect } from 'vitest'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import type { MemberCluster } from '../support/member-cluster.ts'
import { until } from '../support/until.ts'
import { mirrored, type SyncedFleet } from './synced-fleet.ts'

export interface Mirror {
  readonly fleet: SyncedFleet
  readonly member: MemberCluster
  readonly cluster: string
}

const keyOf = ({ namespace, name }: { namespace: string; name: string }) =>
  namespace === '' ? name : `${namespace}/${name}`

/**
 * Resolves when the rows are the member's objects, byte for byte, the change log tells how they came
 * about, and the type's condition is what `status` says.
 */
export async function inStep(
  { fleet, member, cluster }: Mirror,
  of: GroupResource,
  status = 'Syncing',
): Promise<void> {
  const held = () =>
    new Map(member.server.list(of).map((one) => [keyOf(one), mirrored(one.text, cluster)]))
  const stored = async () =>
    new Map([...(await fleet.rows(cluster, of))].map(([key, { text }]) => [key, text]))
  await until(async () => {
    const [rows, want] = [await stored(), held()]
    return rows.size === want.size && [...want].every(([key, text]) => rows.get(key) === text)
  }).catch(async () => expect(await stored()).toEqual(held()))
  const rows = await fleet.rows(cluster, of)
  const now = new Map([...rows].map(([key, row]) => [key, `${row.uid} ${row.resourceVersion}`]))
  expect(replayed(await fleet.entries(cluster, of))).toEqual(now)
  await until(async () => (await fleet.syncCondition(cluster, of))?.status === status).catch(
    async () => expect(await fleet.syncCondition(cluster, of)).toMatchObject({ status }),
  )
}

export interface LogEntry {
  readonly op: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resource_version: string
}

/** What the log leaves behind, by key. @throws when an entry cannot follow those before it. */
export function replayed(entries: readonly LogEntry[]): Map<string, string> {
  const objects = new Map<string, { uid: string; version: string }>()
  for (const entry of entries) {
    const { op, uid, resource_version: version } = entry
    const key = keyOf(entry)
    const before = objects.get(key)
    const follows = op === 'A' ? before === undefined : before?.uid === uid
    if (!follows) throw new Error(`${JSON.stringify(entry)} follows ${JSON.stringify(before)}`)
    if (op === 'D') objects.delete(key)
    else objects.set(key, { uid, version })
  }
  return new Map([...objects].map(([key, { uid, version }]) => [key, `${uid} ${version}`]))
}
