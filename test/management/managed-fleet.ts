/** Syncers on a database of their own, with registrations in a management cluster, as one process has them. */
import { randomBytes, randomUUID } from 'node:crypto'
import { type Controllers, startControllers } from '../../src/cli/parts/controllers.ts'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import type { PediaCluster, PediaClusterSpec } from '../../src/kube/pedia-cluster.ts'
import { createLogger, type Logger } from '../../src/log.ts'
import { accessFromKubeconfigFile } from '../../src/management/access.ts'
import {
  createManagementClient,
  type ManagementClient,
  type Method,
  type RequestOptions,
} from '../../src/management/client.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import { type FleetSyncer, startFleetSyncer } from '../../src/sync/fleet-syncer.ts'
import { testDatabase } from '../support/database.ts'
import {
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { until } from '../support/until.ts'
import { QUICK } from '../sync/quick-limits.ts'

export const CLUSTERS = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'
export const TEMPLATES = '/apis/cluster.clusterpedia.io/v1alpha2/clustersyncresources'
export const ACCESSES = '/apis/fleetglass.io/v1alpha1/fleetaccesses'
export const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
export const EVENTS = '/api/v1/namespaces/default/events'
export const MERGE = { contentType: 'application/merge-patch+json' }

export const base64 = (text: string) => Buffer.from(text).toString('base64')

export type ManagedFleet = Awaited<ReturnType<typeof managedFleet>>

/** One process: what is registered in the management cluster is synced by it. */
interface Process {
  readonly client: ManagementClient
  readonly controllers: Controllers
  stop(): Promise<void>
}

export interface ManagedFleetOptions {
  /** Left out: one that is stopped with the fleet. */
  readonly management?: ManagementCluster
  readonly log?: Logger
}

export async function managedFleet({
  management,
  log = createLogger('silent'),
}: ManagedFleetOptions = {}) {
  const cluster = management ?? (await startManagementCluster())
  const database = await testDatabase()
  const { store } = database
  const keyring = createKeyring(randomBytes(32))

  async function startProcess(): Promise<Process> {
    const client = createManagementClient(accessFromKubeconfigFile(cluster.kubeconfig), {
      userAgent: 'fleetglass/test',
    })
    const registrations = createRegistrations({ store, keyring, clock: systemClock })
    const holder = randomUUID()
    const parts = { client, registrations, holder, clock: systemClock, log }
    const controllers = startControllers({ ...parts, limits: { ...QUICK.follow } })
    const syncer: FleetSyncer = await startFleetSyncer({
      ...{ store, keyring, holder, log, clock: systemClock, limits: QUICK },
      registrations: controllers.source,
      secretValues: 'digest',
    })
    return {
      ...{ client, controllers },
      stop: async () => {
        await controllers.stop()
        await syncer.stop()
        await registrations.close()
        await client.close()
      },
    }
  }

  const ask = async <T = PediaCluster>(
    method: Method,
    path: string,
    options?: RequestOptions,
  ): Promise<T> => (await cluster.admin.request(method, path, options)).body as T

  const processes = [await startProcess()]
  const fleet = {
    ...{ cluster, store, keyring, ask, processes },
    query: async <T>(text: string, values: unknown[] = []) =>
      (await store.pool.query(text, values)).rows as T[],
    async register(name: string, spec: PediaClusterSpec, metadata: object = {}) {
      await ask('POST', CLUSTERS, { body: pediaCluster(name, spec, metadata) })
    },
    async putSecret(name: string, data: Readonly<Record<string, string>>) {
      const encoded = Object.entries(data).map(([key, value]) => [key, base64(value)])
      const body = {
        ...{ apiVersion: 'v1', kind: 'Secret' },
        metadata: { name },
        data: Object.fromEntries(encoded),
      }
      await ask('POST', SECRETS, { body }).catch(() =>
        ask('PATCH', `${SECRETS}/${name}`, { ...MERGE, body: { data: body.data } }),
      )
    },
    get: (name: string) => ask('GET', `${CLUSTERS}/${name}`),
    async condition(name: string, type: string) {
      const { status } = await fleet.get(name)
      return status?.conditions?.find((one) => one.type === type)
    },
    async ready(name: string) {
      await until(async () => (await fleet.condition(name, 'Ready'))?.status === 'True')
    },
    /** Resolves when the condition has the reason. */
    async says(name: string, type: string, reason: string) {
      await until(async () => (await fleet.condition(name, type))?.reason === reason)
      return (await fleet.condition(name, type))!
    },
    async events(name: string) {
      const { items } = await ask<{ items: readonly EventObject[] }>('GET', EVENTS)
      return items.filter(({ involvedObject }) => involvedObject.name === name)
    },
    async clusters(): Promise<readonly string[]> {
      const rows = await fleet.query<{ name: string }>(
        'select name from cluster where removed_at is null order by name',
      )
      return rows.map(({ name }) => name)
    },
    async startProcess() {
      const process = await startProcess()
      processes.push(process)
      return process
    },
    async stop() {
      await Promise.all(processes.map((process) => process.stop()))
      await database.drop()
      if (!management) await cluster.stop()
    },
  }
  return fleet
}

export interface EventObject {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly involvedObject: { readonly name: string; readonly uid: string }
}

export function pediaCluster(name: string, spec: PediaClusterSpec, metadata: object = {}) {
  return {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'PediaCluster',
    metadata: { name, ...metadata },
    spec: { syncResources: [{ group: '', resources: ['configmaps'] }], ...spec },
  }
}
