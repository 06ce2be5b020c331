/** fleetglass over the measured fleet: started, filled and read for its figures, then thrown away. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'yaml'
import {
  removeEmbeddedPostgres,
  runningPostgresUrl,
} from '../../src/cli/postgres/embedded-postgres.ts'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { type RunningFleetglass, serve } from '../support/running-fleetglass.ts'
import { Processes } from './cpu-seconds.ts'
import type { FleetMessage, Mutate } from './member-fleet.ts'
import type { Sizes } from './member-objects.ts'

export const TYPES_PER_CLUSTER = 4
const POLL_MILLISECONDS = 20
const MEASURED = [
  { group: '', resources: ['pods', 'namespaces'] },
  { group: 'apps', resources: ['deployments', 'replicasets'] },
]
const FIRST_PODS = '/apis/clusterpedia.io/v1beta1/resources/api/v1/pods?limit=500'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

export interface Answer {
  readonly status: number
  readonly bytes: number
  /** Of short answers. */
  readonly text: string
}

export class MeasuredFleet {
  readonly processes: Processes
  readonly store: Store
  readonly #dataDir: string
  readonly #running: RunningFleetglass
  readonly #members: ChildProcess
  readonly #api: Api
  readonly #urls: readonly string[]

  static async start(sizes: Sizes): Promise<MeasuredFleet> {
    const members = fork(join(import.meta.dirname, 'member-fleet.ts'), [JSON.stringify(sizes)])
    const { ready } = (await answerOf(members)) as { ready: readonly string[] }
    const dataDir = mkdtempSync(join(tmpdir(), 'fleetglass-bench-'))
    const running = await serve(dataDir)
    const store = await connectStore({
      url: runningPostgresUrl(dataDir)!,
      applicationName: 'bench',
    })
    return new MeasuredFleet({ dataDir, running, members, store, urls: ready })
  }

  private constructor(parts: {
    dataDir: string
    running: RunningFleetglass
    members: ChildProcess
    store: Store
    urls: readonly string[]
  }) {
    this.#dataDir = parts.dataDir
    this.#running = parts.running
    this.#members = parts.members
    this.#urls = parts.urls
    this.store = parts.store
    this.#api = new Api(join(parts.dataDir, 'kubeconfig'))
    this.processes = new Processes(parts.running.child.pid!, parts.dataDir)
  }

  /** Registers every member; resolves when the last of their lists is stored. */
  async sync(): Promise<void> {
    for (const [i, apiserver] of this.#urls.entries()) {
      await this.#register(clusterName(i), apiserver, MEASURED)
    }
    const wanted = this.#urls.length * TYPES_PER_CLUSTER
    await this.#until(
      'select count(*)::int = $1 as done from cluster_resource where resource_version is not null',
      [wanted],
    )
  }

  /** @returns how long after the last change was sent the store held the last of every member. */
  async change(wish: Mutate): Promise<{ sent: number; seconds: number; lagSeconds: number }> {
    const started = performance.now()
    this.#members.send(wish)
    const { sent, last } = (await answerOf(this.#members)) as Extract<
      FleetMessage,
      { sent: number }
    >
    const sentAt = performance.now()
    for (const { cluster, name, resourceVersion } of last) {
      await this.#until(
        `select exists (select from object o join cluster c on c.id = o.cluster_id
         where c.name = $1 and o.name = $2 and o.resource_version = $3) as done`,
        [clusterName(cluster), name, resourceVersion],
      )
    }
    const seconds = (sentAt - started) / 1000
    return { sent, seconds, lagSeconds: (performance.now() - sentAt) / 1000 }
  }

  /** Kills the syncer. @returns how long until another watches every type, and what it wrote. */
  async restart(): Promise<{ seconds: number; rowsWritten: number }> {
    const clock = await this.#one<{ now: Date }>('select clock_timestamp() as now')
    const before = await this.#rowsWritten()
    const started = performance.now()
    this.processes.killSyncer()
    const wanted = this.#urls.length * TYPES_PER_CLUSTER
    await this.#until(
      `select count(*)::int = $1 as done from cluster_resource
       where status = 'Syncing' and changed_at > $2`,
      [wanted, clock.now],
    )
    const seconds = (performance.now() - started) / 1000
    return { seconds, rowsWritten: (await this.#rowsWritten()) - before }
  }

  /** @returns by how many MB the syncer grew at most while it mirrored so many large ConfigMaps. */
  async syncLarge(count: number, bytes: number): Promise<number> {
    const member = fork(join(import.meta.dirname, 'large-member.ts'), [`${count}`, `${bytes}`])
    const { ready } = (await answerOf(member)) as { ready: readonly string[] }
    const idle = this.processes.syncerMegabytes()
    let most = idle
    const looking = setInterval(() => {
      most = Math.max(most, this.processes.syncerMegabytes())
    }, POLL_MILLISECONDS)
    await this.#register('large', ready[0]!, [{ group: '', resources: ['configmaps'] }])
    await this.#until(
      `select count(*)::int = $1 as done from object o join cluster c on c.id = o.cluster_id
       where c.name = 'large'`,
      [count],
    )
    clearInterval(looking)
    member.kill()
    return most - idle
  }

  /** Reads 500 pods as a table, again and again while `work` runs. @returns milliseconds, sorted. */
  async readDuring(work: Promise<unknown>): Promise<readonly number[]> {
    const taken: number[] = []
    let done = false
    const ending = work.finally(() => {
      done = true
    })
    while (!done) {
      const started = performance.now()
      await this.get(FIRST_PODS, { accept: TABLE })
      taken.push(performance.now() - started)
      await delay(POLL_MILLISECONDS)
    }
    await ending
    return taken.sort((a, b) => a - b)
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#api.get(path, headers)
  }

  async stop(): Promise<void> {
    this.#members.kill()
    this.#api.close()
    await this.store.close()
    await this.#running.kill('SIGTERM')
    await removeEmbeddedPostgres(this.#dataDir)
    rmSync(this.#dataDir, { recursive: true, force: true })
  }

  async #register(name: string, apiserver: string, syncResources: object): Promise<void> {
    const { status, text } = await this.#api.post(
      '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters',
      pediaCluster(name, apiserver, syncResources),
    )
    if (status !== 201) throw new Error(`${name} was not registered: ${text}`)
  }

  /** Of the mirror, so far: by the change log, which says of each row what became of it. */
  async #rowsWritten(): Promise<number> {
    const { count } = await this.#one<{ count: number }>(
      'select coalesce(sum(last_seq), 0)::int as count from cluster_lease',
    )
    return count
  }

  async #one<T>(question: string): Promise<T> {
    return (await this.store.pool.query(question)).rows[0] as T
  }

  async #until(question: string, values: readonly unknown[]): Promise<void> {
    for (;;) {
      const { rows } = await this.store.pool.query<{ done: boolean }>(question, [...values])
      if (rows[0]?.done) return
      await delay(POLL_MILLISECONDS)
    }
  }
}

export function clusterName(index: number): string {
  return `c${String(index + 1).padStart(2, '0')}`
}

async function answerOf(members: ChildProcess): Promise<FleetMessage> {
  const [message] = await once(members, 'message')
  return message as FleetMessage
}

function pediaCluster(name: string, apiserver: string, syncResources: object): object {
  return {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'PediaCluster',
    metadata: { name },
    spec: { apiserver, tokenData: 'dA==', syncResources },
  }
}

/** HTTPS as kubectl speaks it, over one connection that is kept. */
class Api {
  readonly #server: URL
  readonly #options: object

  constructor(kubeconfig: string) {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8'))
    const decode = (text: string) => Buffer.from(text, 'base64')
    const { user } = users[0]
    this.#server = new URL(clusters[0].cluster.server)
    this.#options = {
      agent: new Agent({ keepAlive: true, maxSockets: 1 }),
      ca: decode(clusters[0].cluster['certificate-authority-data']),
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    }
  }

  get(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    return this.#send({ method: 'GET', path, headers })
  }

  post(path: string, body: object): Promise<Answer> {
    const headers = { 'Content-Type': 'application/json' }
    return this.#send({ method: 'POST', path, headers, body: JSON.stringify(body) })
  }

  close(): void {
    ;(this.#options as { agent: Agent }).agent.destroy()
  }

  #send(call: Call): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const { hostname, port, pathname } = this.#server
    const { method, headers, body } = call
    const path = `${pathname === '/' ? '' : pathname}${call.path}`
    const options = { ...this.#options, method, headers, path, hostname, port }
    const sent = request(options, (response) => {
      let bytes = 0
      let text = ''
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes < SHORT_BYTES) text += chunk.toString('utf8')
      })
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode!, bytes, text }))
    })
    sent.once('error', reject)
    sent.end(body)
    return promise
  }
}

interface Call {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const SHORT_BYTES = 64 * 1024
