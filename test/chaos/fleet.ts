/** Everything that chaos acts upon: members, a PostgreSQL server, syncers as processes, and what happened. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import { createLogger } from '../../src/log.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { migrate } from '../../src/store/migrate.ts'
import { runSequencer } from '../../src/store/sequencer.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { CONFIG_MAPS, NAMESPACES, PODS, SECRETS } from '../support/resource-types.ts'

export const TYPES = [CONFIG_MAPS, PODS, SECRETS] as const
export const MEMBERS = 3
export const SYNCERS = 2
const SYNCER = join(import.meta.dirname, 'syncer.ts')

export class ChaosFleet {
  readonly postgres: PostgresServer
  readonly store: Store
  readonly members: readonly ChaosMember[]
  /** What syncers wrote to their logs last. */
  readonly said: string[] = []
  readonly #folder: string
  readonly #syncers: Array<ChildProcess | undefined> = []
  readonly #stopping = new AbortController()
  readonly #sequencing: Promise<void>

  static async start(): Promise<ChaosFleet> {
    const postgres = await startPostgres('embedded')
    const store = await connectStore({ url: postgres.url, applicationName: 'chaos' })
    await migrate(store)
    const members = await Promise.all(
      Array.from({ length: MEMBERS }, async (_, i) => new ChaosMember(`m-${i}`, await member())),
    )
    const key = randomBytes(32)
    await register(store, key, members)
    return new ChaosFleet(postgres, store, { members, key })
  }

  private constructor(
    postgres: PostgresServer,
    store: Store,
    { members, key }: { members: readonly ChaosMember[]; key: Buffer },
  ) {
    this.postgres = postgres
    this.store = store
    this.members = members
    this.#folder = mkdtempSync(join(tmpdir(), 'fleetglass-chaos-'))
    writeFileSync(join(this.#folder, 'key'), key, { mode: 0o600 })
    const { signal } = this.#stopping
    this.#sequencing = runSequencer(store, { signal, log: createLogger('silent') })
    for (let i = 0; i < SYNCERS; i++) this.startSyncer(i)
  }

  startSyncer(index: number): void {
    if (this.#syncers[index] || this.#stopping.signal.aborted) return
    const child = spawn(process.execPath, [SYNCER, this.postgres.url, join(this.#folder, 'key')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#syncers[index] = child
    child.once('exit', (code) => {
      if (this.#syncers[index] === child) this.#syncers[index] = undefined
      // It found no database. Whoever runs it in production starts it again, too.
      if (code === 1) setTimeout(() => this.startSyncer(index), 200)
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.said.push(`${child.pid} ${chunk}`)
        if (this.said.length > 200) this.said.shift()
      })
    }
  }

  get running(): readonly number[] {
    return this.#syncers.flatMap((child, index) => (child ? [index] : []))
  }

  async killSyncer(index: number): Promise<void> {
    const child = this.#syncers[index]
    if (!child) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  signalSyncer(index: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#syncers[index]?.kill(signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const index of this.running) {
      this.signalSyncer(index, 'SIGCONT')
      await this.killSyncer(index)
    }
    await this.#sequencing
    await this.store.close().catch(() => undefined)
    await Promise.all(this.members.map(({ cluster }) => cluster.stop()))
    await this.postgres.stop()
    rmSync(this.#folder, { recursive: true })
  }
}

const member = () => startMemberCluster({ bookmarkSeconds: 1, maxChanges: 2_000 })

async function register(store: Store, key: Buffer, members: readonly ChaosMember[]): Promise<void> {
  const clock = systemClock
  const registrations = createRegistrations({ store, keyring: createKeyring(key), clock })
  for (const { name, cluster } of members) {
    const resources = [...TYPES, NAMESPACES].map(({ resource }) => resource)
    await registrations.create({
      kind: kindOfResource('cluster.clusterpedia.io', 'pediaclusters'),
      body: {
        text: JSON.stringify({
          apiVersion: 'cluster.clusterpedia.io/v1alpha2',
          kind: 'PediaCluster',
          metadata: { name },
          spec: { apiserver: cluster.url, syncResources: [{ group: '', resources }] },
        }),
        format: 'json',
      },
      options: { fieldManager: 'chaos' },
    })
  }
  await registrations.close()
}

/** A member that remembers every state of every object it ever had. */
export class ChaosMember {
  readonly name: string
  readonly cluster: MemberCluster
  /** `configmaps ns/name uid resourceVersion` → when, in the order of this run. */
  readonly #states = new Map<string, number>()

  constructor(name: string, cluster: MemberCluster) {
    this.name = name
    this.cluster = cluster
  }

  put(of: GroupResource, key: ObjectKey, data: string): void {
    const { namespace, name } = key
    const value = { metadata: { name, namespace }, data: { value: data } }
    const { uid, revision } = this.cluster.put(of, value)
    const resourceVersion = String(revision)
    this.#states.set(stateKey(of, { namespace, name, uid, resourceVersion }), this.#states.size)
  }

  /** Undefined: the member never had it. */
  stateNumber(of: GroupResource, state: ObjectState): number | undefined {
    return this.#states.get(stateKey(of, state))
  }
}

export interface ObjectState {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

type ObjectKey = Pick<ObjectState, 'namespace' | 'name'>

function stateKey(of: GroupResource, { namespace, name, uid, resourceVersion }: ObjectState) {
  return `${of.resource} ${namespace}/${name} ${uid} ${resourceVersion}`
}
