/** A fleet syncer on a database of its own, with real registrations, as one process has it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import { type GroupResource, qualifiedResource } from '../../src/kube/group-resource.ts'
import { storedAs } from '../../src/kube/moved-resources.ts'
import type { PediaCluster, PediaClusterSpec, SyncCondition } from '../../src/kube/pedia-cluster.ts'
import { createLogger } from '../../src/log.ts'
import { databaseRegistrationSource } from '../../src/registration/database-source.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import type { Store } from '../../src/store/connect.ts'
import type { TrustedKubeconfig } from '../../src/sync/credentials.ts'
import { startFleetSyncer } from '../../src/sync/fleet-syncer.ts'
import type { SyncLimitsGiven } from '../../src/sync/limits.ts'
import { parsePrunePaths } from '../../src/sync/prune-paths.ts'
import { testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import type { LogEntry } from './in-step.ts'
import { QUICK } from './quick-limits.ts'

const PEDIA_CLUSTERS = kindOfResource('cluster.clusterpedia.io', 'pediaclusters')
const TEMPLATES = kindOfResource('cluster.clusterpedia.io', 'clustersyncresources')
const OPTIONS = { fieldManager: 'test' }

export interface StoredObject {
  readonly text: string
  readonly uid: string
  readonly resourceVersion: string
  readonly apiVersion: string
  readonly cells: string
  readonly columnsId: number
}

export interface FleetOptions {
  readonly limits?: SyncLimitsGiven
  readonly secretValues?: 'digest' | 'store'
  readonly trustedKubeconfigs?: readonly TrustedKubeconfig[]
  /** Paths. */
  readonly prune?: readonly string[]
  /** The syncer's own way to the database, of this URL; left out, that of the test. */
  readonly through?: (url: string) => Promise<Store>
}

export type SyncedFleet = Awaited<ReturnType<typeof syncedFleet>>

export async function syncedFleet(options: FleetOptions = {}) {
  const database = await testDatabase()
  const { store } = database
  const keyring = createKeyring(randomBytes(32))
  const registrations = createRegistrations({ store, keyring, clock: systemClock })
  const syncerStore = (await options.through?.(database.url)) ?? store
  let registry = new Registry()
  const query = async <T>(text: string, values: unknown[] = []) =>
    (await store.pool.query(text, values)).rows as T[]

  const startSyncer = (limits: SyncLimitsGiven = {}, prune = options.prune ?? []) =>
    startFleetSyncer({
      store: syncerStore,
      registrations: databaseRegistrationSource(registrations),
      keyring,
      holder: randomUUID(),
      secretValues: options.secretValues ?? 'digest',
      log: createLogger('silent'),
      clock: systemClock,
      registry,
      prune: prune.flatMap(parsePrunePaths),
      ...(options.trustedKubeconfigs && { trustedKubeconfigs: options.trustedKubeconfigs }),
      limits: {
        ...QUICK,
        ...options.limits,
        ...limits,
        follow: { ...QUICK.follow, ...options.limits?.follow, ...limits.follow },
      },
    })
  let syncer = await startSyncer()

  const fleet = {
    database,
    store,
    keyring,
    query,
    async register(name: string, spec: PediaClusterSpec, metadata: object = {}) {
      await registrations.create({
        kind: PEDIA_CLUSTERS,
        body: body({ metadata: { name, ...metadata }, spec }, 'PediaCluster'),
        options: OPTIONS,
      })
    },
    async putTemplate(name: string, spec: object) {
      await registrations.create({
        kind: TEMPLATES,
        body: body({ metadata: { name }, spec }, 'ClusterSyncResources'),
        options: OPTIONS,
      })
    },
    async patchTemplate(name: string, patch: object) {
      await registrations.patch({
        ...{ kind: TEMPLATES, name, subresource: '', type: 'merge', options: OPTIONS },
        body: { text: JSON.stringify(patch), format: 'json' },
      })
    },
    async removeTemplate(name: string) {
      await registrations.delete({ kind: TEMPLATES, name, options: {} })
    },
    async patch(name: string, patch: object) {
      await registrations.patch({
        kind: PEDIA_CLUSTERS,
        name,
        subresource: '',
        type: 'merge',
        body: { text: JSON.stringify(patch), format: 'json' },
        options: OPTIONS,
      })
    },
    async remove(name: string) {
      await registrations.delete({ kind: PEDIA_CLUSTERS, name, options: {} })
    },
    async get(name: string): Promise<PediaCluster> {
      const { object } = await registrations.get({ kind: PEDIA_CLUSTERS, name })
      return object as unknown as PediaCluster
    },
    async condition(name: string, type: string) {
      const { status } = await fleet.get(name)
      return status?.conditions?.find((one) => one.type === type)
    },
    async syncCondition(name: string, of: GroupResource): Promise<SyncCondition | undefined> {
      const { status } = await fleet.get(name)
      return status?.syncResources
        ?.find(({ group }) => group === of.group)
        ?.resources.find((one) => one.name === of.resource)?.syncConditions[0]
    },
    /** Resolves when everything of the cluster was listed and is watched. */
    async ready(name: string) {
      // Sixty types on a machine that does other things as well.
      await until(async () => (await fleet.condition(name, 'Ready'))?.status === 'True')
    },
    /** By `namespace/name`, or the name. */
    async rows(cluster: string, of: GroupResource): Promise<Map<string, StoredObject>> {
      const { group, resource } = storedAs(of)
      const found = await query<StoredObject & { namespace: string; name: string }>(
        `select o.namespace, o.name, head || metadata || tail as text, uid, cells,
           o.resource_version as "resourceVersion", api_version as "apiVersion", columns_id as "columnsId"
         from object o join resource_type t on t.id = o.type_id join cluster c on c.id = o.cluster_id
         where c.name = $1 and c.removed_at is null and t.api_group = $2 and t.resource = $3
         order by o.namespace, o.name`,
        [cluster, group, resource],
      )
      return new Map(
        found.map(({ namespace, name, ...row }) => [
          namespace === '' ? name : `${namespace}/${name}`,
          row,
        ]),
      )
    },
    /** The change log of a type, in order. */
    async entries(cluster: string, of: GroupResource): Promise<LogEntry[]> {
      const { group, resource } = storedAs(of)
      return query<LogEntry>(
        `select op::text as op, h.namespace, h.name, uid, resource_version
         from change h join resource_type t on t.id = h.type_id join cluster c on c.id = h.cluster_id
         where c.name = $1 and c.removed_at is null and t.api_group = $2 and t.resource = $3
         order by seq`,
        [cluster, group, resource],
      )
    },
    /** `A default/one`, in order. */
    async log(cluster: string, of: GroupResource): Promise<string[]> {
      const rows = await query<{ line: string }>(
        `select op::text || ' ' || h.namespace || '/' || h.name as line
         from change h join resource_type t on t.id = h.type_id join cluster c on c.id = h.cluster_id
         where c.name = $1 and t.api_group = $2 and t.resource = $3 order by seq`,
        [cluster, of.group, of.resource],
      )
      return rows.map(({ line }) => line)
    },
    async position(cluster: string, of: GroupResource): Promise<string | undefined> {
      const rows = await query<{ position: string }>(
        `select resource_version as position
         from cluster_resource r join resource_type t on t.id = r.type_id join cluster c on c.id = r.cluster_id
         where c.name = $1 and c.removed_at is null and t.api_group = $2 and t.resource = $3`,
        [cluster, of.group, of.resource],
      )
      return rows[0]?.position ?? undefined
    },
    async staleReason(cluster: string): Promise<string | null> {
      const rows = await query<{ stale_reason: string | null }>(
        'select stale_reason from cluster where name = $1 and removed_at is null',
        [cluster],
      )
      return rows[0]?.stale_reason ?? null
    },
    /** Milliseconds; what readers are told of a cluster that is not in step. */
    async lastInStep(cluster: string): Promise<number | undefined> {
      const rows = await query<{ stale_since: Date | null }>(
        'select stale_since from cluster where name = $1 and removed_at is null',
        [cluster],
      )
      return rows[0]?.stale_since?.getTime()
    },
    /** Leaves the syncer to the caller, to run beside another. */
    takeSyncer() {
      return syncer
    },
    async stopSyncer() {
      await syncer.stop()
    },
    /** As the metrics page shows them. */
    async metrics() {
      return registry.metrics()
    },
    /** `relists_total{cause="first"}` of a type; 0 when there is none. */
    async metric(cluster: string, of: GroupResource, what: string): Promise<number> {
      const [name, more = ''] = what.split('{')
      const labels = `cluster="${cluster}",resource="${qualifiedResource(of)}"`
      const series = `fleetglass_sync_${name}{${labels}${more && `,${more.slice(0, -1)}`}} `
      const text = await registry.metrics()
      const line = text.split('\n').find((one) => one.startsWith(series))
      return line === undefined ? 0 : Number(line.slice(series.length))
    },
    async startSyncer(limits: SyncLimitsGiven = {}, prune?: readonly string[]) {
      registry = new Registry()
      syncer = await startSyncer(limits, prune)
    },
    async stop() {
      await syncer.stop()
      await registrations.close()
      if (syncerStore !== store) await syncerStore.close()
      await database.drop()
    },
  }
  return fleet
}

function body(object: { metadata: object; spec: object }, kind: string) {
  const apiVersion = 'cluster.clusterpedia.io/v1alpha2'
  return { text: JSON.stringify({ apiVersion, kind, ...object }), format: 'json' as const }
}

/** What is stored of an object without annotations that the member sends as `text`. */
export function mirrored(text: Buffer, cluster: string): string {
  const mark = `"annotations":{"shadow.clusterpedia.io/cluster-name":"${cluster}"},`
  return text.toString('utf8').replace('"metadata":{', `"metadata":{${mark}`)
}
