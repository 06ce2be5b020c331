/**
 * A stand-in for the management cluster's API server: the member server of the tests, with writes
 * (object-writes.ts) and the types of crds/. What a real server does beside storing objects, such as
 * TokenReview, is a handler put in with {@link StandIn.answer}.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { systemClock } from '../../../src/clock.ts'
import { authenticate } from '../../../src/demo/member/authenticate.ts'
import { type Reply, sendReply, statusReply } from '../../../src/demo/member/reply.ts'
import type { Exchange, MemberRequest } from '../../../src/demo/member-server.ts'
import { StatusError, toStatus } from '../../../src/kube/status-error.ts'
import { registrationOpenApi } from '../../../src/registration/open-api.ts'
import { makeCertificates } from '../certificates.ts'
import { type MemberCluster, startMemberCluster } from '../member-cluster.ts'
import type { RunningApiserver } from './management-cluster.ts'
import { ObjectWrites } from './object-writes.ts'

const CRDS = join(import.meta.dirname, '../../../crds')
const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
export const ADMIN_TOKEN = 'the-token-of-the-administrator'

export interface StandInRequest extends MemberRequest {
  readonly body: string
  /** Who asks: by bearer token, or the common name of a certificate. */
  readonly user: string
}

/** @returns undefined when it is for somebody else. */
export type Handler = (request: StandInRequest) => Promise<Reply | undefined>

export interface StandIn extends RunningApiserver {
  /** For faults, and for objects put in directly. */
  readonly member: MemberCluster
  /** Every request of whoever is authenticated, in order. */
  readonly requests: readonly StandInRequest[]
  /** Asked before everything else, the latest first. */
  answer(handler: Handler): void
}

/** @param folder - for its certificates: ca.crt, and clients that it issued (certificates.ts). */
export async function startStandIn(folder: string): Promise<StandIn> {
  await makeCertificates(folder)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const member = await startMemberCluster({
    tls: { cert: read('server.crt'), key: read('server.key'), clientCa: read('ca.crt') },
    tokens: { [ADMIN_TOKEN]: 'admin' },
    bookmarkSeconds: 1,
    openApi: new Map(
      [...registrationOpenApi()].map(([path, document]) => [
        path,
        gzipSync(JSON.stringify(document)),
      ]),
    ),
  })
  for (const file of readdirSync(CRDS).filter((name) => name.endsWith('.yaml'))) {
    member.put(DEFINITIONS, parse(readFileSync(join(CRDS, file), 'utf8')))
  }
  const handlers: Handler[] = [writesOf(member)]
  const requests: StandInRequest[] = []
  const asked = { member, handlers, requests }
  member.server.intercept((exchange) => intercept(exchange, asked))
  return {
    ...{ member, requests, url: member.url, ca: read('ca.crt'), token: ADMIN_TOKEN },
    answer: (handler) => void handlers.unshift(handler),
    goDown: () => member.goDown(),
    comeBack: () => member.comeBack(),
    stop: () => member.stop(),
  }
}

interface Asked {
  readonly member: MemberCluster
  readonly handlers: readonly Handler[]
  readonly requests: StandInRequest[]
}

async function intercept(
  exchange: Exchange,
  { member: { server }, handlers, requests }: Asked,
): Promise<boolean> {
  const { request, response, output } = exchange
  const user = authenticate(response.req, server.tokens)
  // Whoever is nobody is refused by the server itself.
  if (user === undefined || user === 'system:anonymous') return false
  const body = await textOf(response.req)
  const asked = { ...request, body, user }
  requests.push(asked)
  const reply = await firstReply(handlers, asked)
  if (!reply) return false
  sendReply(reply, { output, acceptEncoding: '' })
  return true
}

/** Begun before anything is waited for: the server lets bodies pass by. */
async function textOf(message: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts).toString()
}

async function firstReply(
  handlers: readonly Handler[],
  request: StandInRequest,
): Promise<Reply | undefined> {
  try {
    for (const handler of handlers) {
      const reply = await handler(request)
      if (reply) return reply
    }
    return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return statusReply(toStatus(error))
  }
}

function writesOf({ server }: MemberCluster): Handler {
  const writes = new ObjectWrites(server, systemClock)
  return async (request) => {
    const { method, namespace, name, subresource, headers, query, body } = request
    if (method === 'GET' || method === 'HEAD') return undefined
    const resource = server.resources.find(request)
    if (!resource || (subresource !== '' && subresource !== 'status')) return undefined
    const { code, text } = writes.answer({
      ...{ method, resource, namespace, name, body },
      subresource: subresource === 'status' ? 'status' : '',
      contentType: String(headers['content-type'] ?? ''),
      fieldManager: query.get('fieldManager') ?? agentOf(String(headers['user-agent'] ?? '')),
      force: query.get('force') === 'true',
    })
    return { code, contentType: 'application/json', body: `${text}\n` }
  }
}

/** As a real server names a writer that does not name itself. */
function agentOf(userAgent: string): string {
  return userAgent.split('/')[0]!.slice(0, 128)
}
