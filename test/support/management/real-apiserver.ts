/**
 * A real kube-apiserver on a real etcd, from the binaries that KUBE_APISERVER and ETCD name: with
 * RBAC, the front proxy's CA, and the CRDs of crds/ applied. Reached through a TCP proxy, so that it
 * can be away and come back.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { parse } from 'yaml'
import { makeCertificates } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import type { RunningApiserver } from './management-cluster.ts'

const CRDS = join(import.meta.dirname, '../../../crds')
const TOKEN = 'the-token-of-the-administrator'

export interface RealApiserverOptions {
  /** Paths of binaries. */
  readonly apiserver: string
  readonly etcd: string
  readonly folder: string
}

export async function startRealApiserver(options: RealApiserverOptions): Promise<RunningApiserver> {
  const { folder } = options
  await makeCertificates(folder)
  const started = new AsyncDisposableStack()
  try {
    const etcdPort = await startEtcd(options, started)
    const port = await startApiserver(options, etcdPort, started)
    const gate = await TcpGate.open(port)
    started.defer(() => gate.close())
    const url = `https://127.0.0.1:${gate.port}`
    const ca = readFileSync(join(folder, 'ca.crt'), 'utf8')
    await applyDefinitions({ url, ca })
    return {
      ...{ url, ca, token: TOKEN },
      goDown: () => gate.close(),
      comeBack: () => gate.listen(),
      stop: () => started.disposeAsync(),
    }
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

async function startEtcd(
  { etcd, folder }: RealApiserverOptions,
  started: AsyncDisposableStack,
): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const client = `http://127.0.0.1:${port}`
  const peer = `http://127.0.0.1:${peerPort}`
  run(etcd, { folder, started }, [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync=true',
  ])
  return port
}

async function startApiserver(
  { apiserver, folder }: RealApiserverOptions,
  etcdPort: number,
  started: AsyncDisposableStack,
): Promise<number> {
  const port = await freePort()
  const file = (name: string) => join(folder, name)
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  writeFileSync(file('sa.key'), privateKey)
  writeFileSync(file('tokens.csv'), `${TOKEN},admin,admin,system:masters\n`)
  run(apiserver, { folder, started }, [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--tls-cert-file=${file('server.crt')}`,
    `--tls-private-key-file=${file('server.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--requestheader-client-ca-file=${file('ca.crt')}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${file('sa.key')}`,
    `--service-account-key-file=${file('sa.key')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
  ])
  const ca = readFileSync(file('ca.crt'), 'utf8')
  await until(() => isReady(`https://127.0.0.1:${port}`, ca))
  return port
}

async function isReady(url: string, ca: string): Promise<boolean> {
  return ask({ url, ca }, '/readyz').then(
    ({ status }) => status === 200,
    () => false,
  )
}

function run(
  binary: string,
  { folder, started }: { readonly folder: string; readonly started: AsyncDisposableStack },
  args: readonly string[],
): void {
  const log = createWriteStream(join(folder, `${binary.split('/').at(-1)}.log`))
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  child.stdout.pipe(log)
  child.stderr.pipe(log)
  started.defer(() => ended(child))
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

interface Place {
  readonly url: string
  readonly ca: string
}

async function applyDefinitions(at: Place): Promise<void> {
  for (const file of readdirSync(CRDS).filter((name) => name.endsWith('.yaml'))) {
    const crd = parse(readFileSync(join(CRDS, file), 'utf8'))
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const { status, text } = await ask(at, definitions, JSON.stringify(crd))
    if (status !== 201) throw new Error(`${file} was not accepted: ${text}`)
    const { group, names, versions } = crd.spec
    const served = `/apis/${group}/${versions[0].name}/${names.plural}`
    await until(async () => (await ask(at, served)).status === 200)
  }
}

async function ask({ url, ca }: Place, path: string, body?: string) {
  const method = body === undefined ? 'GET' : 'POST'
  const dispatcher = new Agent({ connect: { ca } })
  try {
    const answer = await request(`${url}${path}`, {
      ...{ method, dispatcher },
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    return { status: answer.statusCode, text: await answer.body.text() }
  } finally {
    await dispatcher.close()
  }
}

/** Passes bytes on to a port of this machine, unless it is closed. */
class TcpGate {
  readonly #to: number
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  readonly port: number

  private constructor(port: number, to: number) {
    this.port = port
    this.#to = to
  }

  static async open(to: number): Promise<TcpGate> {
    const gate = new TcpGate(await freePort(), to)
    await gate.listen()
    return gate
  }

  async listen(): Promise<void> {
    const server = createServer((client) => this.#pass(client))
    await once(server.listen(this.port, '127.0.0.1'), 'listening')
    this.#server = server
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    if (server) await new Promise((resolve) => server.close(resolve))
  }

  #pass(client: Socket): void {
    const upstream = connect(this.#to, '127.0.0.1')
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      socket.on('error', () => socket.destroy())
    }
    client.pipe(upstream).pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  }
}
