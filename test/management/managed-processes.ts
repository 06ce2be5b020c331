/** `fleetglass apiserver` and `fleetglass syncer` as processes, on a database and a management cluster. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import type { PediaCluster } from '../../src/kube/pedia-cluster.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import {
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { until } from '../support/until.ts'
import { CLUSTERS } from './managed-fleet.ts'

const PROGRAM = join(import.meta.dirname, '../../src/main.ts')
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/fleetglass-controllers`
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })

export class ManagedProcesses {
  readonly cluster: ManagementCluster
  readonly database: TestDatabase
  readonly #started: AsyncDisposableStack

  private constructor(
    cluster: ManagementCluster,
    database: TestDatabase,
    started: AsyncDisposableStack,
  ) {
    this.cluster = cluster
    this.database = database
    this.#started = started
  }

  static async create(): Promise<ManagedProcesses> {
    const started = new AsyncDisposableStack()
    const cluster = await startManagementCluster()
    started.defer(() => cluster.stop())
    const database = await testDatabase()
    started.defer(() => database.drop())
    writeFileSync(join(cluster.folder, 'key'), randomBytes(32).toString('base64'))
    return new ManagedProcesses(cluster, database, started)
  }

  /** @param databaseUrl - another way to the database. */
  run(args: readonly string[], databaseUrl = this.database.url): RunningPart {
    const [command, ...flags] = args
    const { folder, kubeconfig } = this.cluster
    const given = [PROGRAM, command!, '--registrations=management', ...flags]
    const child = spawn(process.execPath, given, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        FLEETGLASS_DATABASE_URL: databaseUrl,
        FLEETGLASS_ENCRYPTION_KEY_FILE: join(folder, 'key'),
        FLEETGLASS_KUBECONFIG: kubeconfig,
        FLEETGLASS_LOG_LEVEL: 'info',
      },
    })
    const part = new RunningPart(child)
    this.#started.defer(() => part.end('SIGKILL'))
    return part
  }

  /** Who keeps the registrations. */
  async leader(): Promise<string> {
    const { body } = await this.cluster.admin.request('GET', LEASE)
    return (body as { spec: { holderIdentity: string } }).spec.holderIdentity
  }

  async ready(name: string): Promise<void> {
    const condition = async () => {
      const { body } = await this.cluster.admin.request('GET', `${CLUSTERS}/${name}`)
      return (body as PediaCluster).status?.conditions?.find(({ type }) => type === 'Ready')?.status
    }
    await until(async () => (await condition()) === 'True')
  }

  async stop(): Promise<void> {
    await this.#started.disposeAsync()
  }
}

/** One process, and where it answers. */
export class RunningPart {
  readonly child: ChildProcess
  /** Of both outputs. */
  text = ''

  constructor(child: ChildProcess) {
    this.child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.text += chunk
      })
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  /** @param at - left out: where it says that it answers, once it does. */
  async ask(path: string, at?: string): Promise<readonly [number, string]> {
    const { statusCode, body } = await request(`${at ?? (await this.#address())}${path}`, {
      dispatcher,
    })
    return [statusCode, await body.text()]
  }

  async #address(): Promise<string> {
    const found = () =>
      /ready at (https:\S+)/.exec(this.text)?.[1] ??
      /"port":(\d+),"msg":"metrics are served"/.exec(this.text)?.[1]
    await until(() => found() !== undefined)
    return found()!.startsWith('https') ? found()! : `http://127.0.0.1:${found()}`
  }
}
