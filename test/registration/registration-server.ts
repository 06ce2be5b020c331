/** The registration API on a database of its own, asked as kubectl asks it. */
import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { authenticated, identityDecoration, MASTERS_GROUP } from '../../src/apiserver/identity.ts'
import { statusErrors } from '../../src/apiserver/plugins/status-errors.ts'
import type { RegistrationRoutesOptions } from '../../src/apiserver/registration/kind-routes.ts'
import { registrationRoutes } from '../../src/apiserver/registration/plugin.ts'
import type { Clock } from '../../src/clock.ts'
import { createKeyring, type Keyring } from '../../src/keyring.ts'
import { createRegistrations, type Registrations } from '../../src/registration/registrations.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

export const CLUSTERS = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'
export const TEMPLATES = '/apis/cluster.clusterpedia.io/v1alpha2/clustersyncresources'
export const ACCESSES = '/apis/fleetglass.io/v1alpha1/fleetaccesses'

export const START = Date.parse('2026-12-01T03:26:59Z')

/** A clock that stands still until it is set; sleeping is real. */
export interface TestClock extends Clock {
  set(milliseconds: number): void
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any
}

export interface Asked {
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
  readonly agent?: string
}

export interface RegistrationServer {
  readonly database: TestDatabase
  readonly registrations: Registrations
  readonly keyring: Keyring
  readonly clock: TestClock
  readonly server: FastifyInstance
  ask(method: string, path: string, asked?: Asked): Promise<Answer>
  stop(): Promise<void>
}

function testClock(): TestClock {
  let now = START
  return {
    now: () => now,
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    set: (milliseconds) => {
      now = milliseconds
    },
  }
}

export async function registrationServer(
  options: Partial<Pick<RegistrationRoutesOptions, 'authorize' | 'untilKnown' | 'rightsOf'>> = {},
): Promise<RegistrationServer> {
  const database = await testDatabase()
  const clock = testClock()
  const keyring = createKeyring(randomBytes(32))
  const registrations = createRegistrations({ store: database.store, keyring, clock })
  const server = Fastify({ routerOptions: { maxParamLength: 1024 } })
  await server.register(statusErrors)
  await server.register(identityDecoration)
  server.addHook('onRequest', async (request) => {
    request.identity = authenticated('admin', [MASTERS_GROUP])
  })
  let underWay = 0
  server.addHook('onRequest', async (_, reply) => {
    underWay++
    reply.raw.once('close', () => underWay--)
  })
  const { authorize = () => () => true, untilKnown = async () => undefined } = options
  const { rightsOf = () => 'all' } = options
  const routes = { registrations, authorize, clock, untilKnown, rightsOf }
  await server.register(registrationRoutes(routes))
  return {
    database,
    registrations,
    keyring,
    clock,
    server,
    ask: (method, path, asked) => ask(server, { method, path, ...asked }),
    async stop() {
      const closed = server.close()
      await until(() => underWay === 0)
      // A client may have opened a connection that it never used: Node waits a minute for those.
      server.server.closeAllConnections()
      await closed
      await registrations.close()
      await database.drop()
    },
  }
}

async function ask(
  server: FastifyInstance,
  { method, path, body, type, accept, agent }: Asked & { method: string; path: string },
): Promise<Answer> {
  const payload = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const answer = await server.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url: path,
    headers: {
      'user-agent': agent ?? 'kubectl/v1.33.1 (linux/amd64)',
      accept: accept ?? 'application/json',
      ...(payload !== undefined && { 'content-type': type ?? 'application/json' }),
    },
    ...(payload !== undefined && { payload }),
  })
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: answer.body,
    json: isJson ? JSON.parse(answer.body) : undefined,
  }
}

export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const APPLY = 'application/apply-patch+yaml'

export const base64 = (text: string) => Buffer.from(text).toString('base64')

/** A PediaCluster as a manifest has it. */
export function pediaCluster(name: string, spec: object = {}, metadata: object = {}) {
  return {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'PediaCluster',
    metadata: { name, ...metadata },
    spec: { apiserver: 'https://10.0.0.1:6443', ...spec },
  }
}

export function syncResources(name: string, resources: readonly string[] = ['pods']) {
  return {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'ClusterSyncResources',
    metadata: { name },
    spec: { syncResources: [{ group: '', resources }] },
  }
}

export function fleetAccess(name: string, rule: object = {}) {
  return {
    apiVersion: 'fleetglass.io/v1alpha1',
    kind: 'FleetAccess',
    metadata: { name },
    spec: {
      subjects: [{ kind: 'User', name: 'jane' }],
      rules: [{ clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'], ...rule }],
    },
  }
}
