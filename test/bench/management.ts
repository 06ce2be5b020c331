/**
 * A management cluster with many PediaClusters: how long until all are Ready, what it holds in
 * memory, and what it asks of the API server there. All of them lead to one small member, so that
 * the registrations are measured, and not the mirror.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/cli/postgres/embedded-postgres.ts'
import { createLogger } from '../../src/log.ts'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { migrate } from '../../src/store/migrate.ts'
import {
  type ManagementCluster,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { startMemberCluster } from '../support/member-cluster.ts'
import { megabytesOf } from './cpu-seconds.ts'

const CLUSTERS = process.argv.includes('--small') ? 100 : 1_000
const IDLE_SECONDS = 60
const PROGRAM = join(import.meta.dirname, '../../src/main.ts')
const PEDIA_CLUSTERS = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'

const started = new AsyncDisposableStack()
try {
  await measure()
} finally {
  await started.disposeAsync()
}

async function measure(): Promise<void> {
  const { cluster, store, run } = await begin()
  await register(cluster)
  const asked = countRequests(cluster)
  const first = run('syncer', '--lease-holder=first')
  const seconds = await until(async () => (await ready(store)) === CLUSTERS)
  say(`${CLUSTERS} PediaClusters are Ready after ${seconds.toFixed(1)} s`)
  say(`asked of the management API server: ${asked.since()}`)
  say(`syncer: ${peakOf(first)} MB at most`)
  await delay(IDLE_SECONDS * 1000)
  say(`asked in ${IDLE_SECONDS} s in which nothing happens: ${asked.since()}`)
  await end(first)
  asked.since()
  const answering = run('apiserver', '--listen=127.0.0.1:0')
  const second = run('syncer', '--lease-holder=second')
  const again = await until(async () => (await held(store, 'second')) === CLUSTERS)
  await delay(IDLE_SECONDS * 1000)
  say(`started again: all are held after ${again.toFixed(1)} s`)
  say(`asked within a minute of that: ${asked.since()}`)
  say(`syncer: ${peakOf(second)} MB at most; API server: ${peakOf(answering)} MB`)
}

interface Begun {
  readonly cluster: ManagementCluster
  readonly store: Store
  readonly run: (...args: readonly string[]) => ChildProcess
}

async function begin(): Promise<Begun> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetglass-bench-'))
  started.defer(() => rmSync(folder, { recursive: true, force: true }))
  const postgres = await startEmbeddedPostgres(folder, createLogger('silent'))
  started.defer(async () => {
    await postgres.stop()
    await removeEmbeddedPostgres(folder)
  })
  const store = await connectStore({ url: postgres.url, applicationName: 'bench' })
  started.defer(() => store.close())
  await migrate(store)
  const cluster = await startManagementCluster()
  started.defer(() => cluster.stop())
  writeFileSync(join(folder, 'key'), randomBytes(32).toString('base64'))
  const env = {
    ...process.env,
    FLEETGLASS_REGISTRATIONS: 'management',
    FLEETGLASS_DATABASE_URL: postgres.url,
    FLEETGLASS_DATA_DIR: join(folder, 'data'),
    FLEETGLASS_ENCRYPTION_KEY_FILE: join(folder, 'key'),
    FLEETGLASS_KUBECONFIG: cluster.kubeconfig,
    FLEETGLASS_LOG_LEVEL: 'error',
  }
  const run = (...args: readonly string[]) => {
    const stdio = ['ignore', 'ignore', 'inherit'] as const
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: [...stdio], env })
    started.defer(() => end(child))
    return child
  }
  return { cluster, store, run }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function register({ admin }: ManagementCluster): Promise<void> {
  const member = await startMemberCluster()
  started.defer(() => member.stop())
  member.put(
    { group: '', resource: 'configmaps' },
    { metadata: { namespace: 'default', name: 'one' }, data: {} },
  )
  for (let i = 0; i < CLUSTERS; i++) {
    const body = {
      ...{ apiVersion: 'cluster.clusterpedia.io/v1alpha2', kind: 'PediaCluster' },
      metadata: { name: `c-${String(i).padStart(4, '0')}` },
      spec: {
        apiserver: member.url,
        syncResources: [{ group: '', resources: ['configmaps'] }],
      },
    }
    await admin.request('POST', PEDIA_CLUSTERS, { body })
  }
}

/** What was asked since it was looked at last, by kind of request. */
function countRequests({ standIn }: ManagementCluster) {
  if (!standIn) throw new Error('only a stand-in tells what it was asked')
  let seen = standIn.requests.length
  return {
    since(): string {
      const counts = new Map<string, number>()
      for (const { method, resource, subresource } of standIn.requests.slice(seen)) {
        const what = `${method} ${resource}${subresource === '' ? '' : `/${subresource}`}`
        counts.set(what, (counts.get(what) ?? 0) + 1)
      }
      seen = standIn.requests.length
      const texts = [...counts].toSorted(([, a], [, b]) => b - a)
      return texts.map(([what, count]) => `${count} ${what}`).join(', ')
    },
  }
}

async function count(store: Store, query: string, values: readonly unknown[] = []) {
  const { rows } = await store.pool.query<{ count: number }>(query, [...values])
  return rows[0]!.count
}

function ready(store: Store): Promise<number> {
  return count(
    store,
    `select count(*)::int from registration where resource = 'pediaclusters'
     and object::jsonb @> '{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}'`,
  )
}

function held(store: Store, holder: string): Promise<number> {
  return count(store, 'select count(*)::int from cluster_lease where holder = $1', [holder])
}

/** @returns seconds. */
async function until(condition: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now()
  while (!(await condition())) await delay(250)
  return (performance.now() - startedAt) / 1000
}

function peakOf({ pid }: ChildProcess): string {
  return megabytesOf(pid, 'VmHWM').toFixed(0)
}

function say(text: string): void {
  console.log(text)
}
