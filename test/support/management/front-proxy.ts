/**
 * A stand-in for kube-apiserver with its aggregator: knows users by their token, resolves
 * impersonation, authorises the path that it sees, and passes on what belongs to fleetglass, with a
 * certificate and headers of its own (recorded/management/aggregator.json). What does not is the
 * management cluster's.
 */
import { type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http'
import { Agent, createServer, type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { attributesOf, type RequestAttributes } from '../../../src/kube/request-attributes.ts'
import type { UserInfo } from './reviews.ts'

export interface Destination {
  readonly url: string
  /** PEM. */
  readonly ca: string
  readonly client?: { readonly cert: string; readonly key: string }
  /** Sent in place of the caller's credentials. */
  readonly token?: string
}

export interface FrontProxyOptions {
  readonly serving: { readonly cert: string; readonly key: string }
  readonly users: ReadonlyMap<string, UserInfo>
  readonly allows: (user: UserInfo, attributes: RequestAttributes) => boolean
  readonly fleetglass: Destination
  readonly management?: Destination
}

export interface FrontProxy {
  readonly url: string
  stop(): Promise<void>
}

const AGGREGATED = /^\/apis\/(?:clusterpedia\.io|fleet\.fleetglass\.io)(?:\/|$)/

export async function startFrontProxy(options: FrontProxyOptions): Promise<FrontProxy> {
  const agent = new Agent({ keepAlive: true })
  const server = createServer(options.serving, (incoming, outgoing) =>
    pass({ incoming, outgoing }, options, agent),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    stop: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

function pass(exchange: Exchange, options: FrontProxyOptions, agent: Agent): void {
  const { incoming, outgoing } = exchange
  const found = whereTo(incoming, options)
  if ('code' in found) refuse(outgoing, found)
  else forward(exchange, { ...found, agent })
}

interface Refusal {
  readonly code: number
  readonly message: string
}

function whereTo(
  incoming: IncomingMessage,
  { users, allows, fleetglass, management }: FrontProxyOptions,
): Refusal | Omit<Forwarding, 'agent'> {
  const token = /^Bearer (\S+)$/.exec(incoming.headers.authorization ?? '')?.[1]
  const caller = token === undefined ? undefined : users.get(token)
  if (!caller) return { code: 401, message: 'Unauthorized' }
  const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'https://any')
  const attributes = attributesOf({ method: incoming.method ?? 'GET', path, query })
  const user = actingAs(caller, incoming)
  if (!isMaster(user) && !allows(user, attributes)) {
    return { code: 403, message: wordsOf(user, attributes) }
  }
  if (AGGREGATED.test(path)) return { to: fleetglass, headers: headersFor(user, incoming) }
  if (management) return { to: management, headers: { ...incoming.headers } }
  return { code: 404, message: 'the server could not find the requested resource' }
}

function isMaster({ groups = [] }: UserInfo): boolean {
  return groups.includes('system:masters')
}

/** Only of an administrator; others must not use it in these tests. */
function actingAs(caller: UserInfo, { headers, rawHeaders }: IncomingMessage): UserInfo {
  const username = headers['impersonate-user']
  if (typeof username !== 'string' || !isMaster(caller)) return caller
  const named = rawHeaders.filter(
    (_, i) => rawHeaders[i - 1]?.toLowerCase() === 'impersonate-group',
  )
  return { username, groups: [...named, 'system:authenticated'] }
}

/** Credentials end here, and nobody else's word about the user is passed on. */
function headersFor(user: UserInfo, { headers, url, socket }: IncomingMessage) {
  const kept = Object.entries(headers).filter(
    ([name]) => !/^(?:authorization|connection|impersonate-.*|x-remote-.*)$/.test(name),
  )
  const extra = Object.entries(user.extra ?? {}).map(([key, values]) => [
    `X-Remote-Extra-${encodeURIComponent(key).toLowerCase()}`,
    values,
  ])
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(extra),
    'X-Forwarded-For': socket.remoteAddress ?? '',
    'X-Forwarded-Host': headers.host ?? '',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Uri': (url ?? '').split('?', 1)[0]!,
    'X-Remote-User': user.username,
    'X-Remote-Group': user.groups ?? [],
  }
}

interface Forwarding {
  readonly to: Destination
  readonly headers: Readonly<Record<string, unknown>>
  readonly agent: Agent
}

function forward({ incoming, outgoing }: Exchange, { to, headers, agent }: Forwarding): void {
  const { hostname, port, protocol } = new URL(to.url)
  const options: RequestOptions = {
    ...{ hostname, port, agent, path: incoming.url, method: incoming.method, ca: to.ca },
    ...to.client,
    headers: {
      ...headers,
      ...(to.token !== undefined && { authorization: `Bearer ${to.token}` }),
    } as NonNullable<RequestOptions['headers']>,
  }
  const { agent: _, ...plain } = options
  const onward = protocol === 'https:' ? request(options) : plainRequest(plain)
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    answer.pipe(outgoing)
    answer.on('aborted', () => outgoing.destroy())
  })
  onward.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy()
    else refuse(outgoing, { code: 503, message: 'service unavailable' })
  })
  incoming.pipe(onward)
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  503: 'ServiceUnavailable',
}

function refuse(outgoing: ServerResponse, { code, message }: Refusal): void {
  outgoing.writeHead(code, { 'content-type': 'application/json' })
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message }
  outgoing.end(`${JSON.stringify({ ...status, reason: REASONS[code], details: {}, code })}\n`)
}

function wordsOf({ username }: UserInfo, attributes: RequestAttributes): string {
  if ('path' in attributes) {
    return `forbidden: User "${username}" cannot ${attributes.verb} path "${attributes.path}"`
  }
  const { verb, group, resource, subresource, name } = attributes
  const whole = subresource === undefined ? resource : `${resource}/${subresource}`
  const what = `${resource}.${group}${name === undefined ? '' : ` "${name}"`}`
  return `${what} is forbidden: User "${username}" cannot ${verb} resource "${whole}" in API group "${group}" at the cluster scope`
}
