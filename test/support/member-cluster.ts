/**
 * The member cluster of the tests: a real API server in memory (src/demo/member-server.ts) that
 * also misbehaves in every way we know of, on demand.
 *
 * Faults that concern requests yet to come say how many (`times`); a fault without a number stays
 * until the function it returned is called.
 */
import { releaseOf } from '../../src/demo/member/release.ts'
import { sendReply, statusReply } from '../../src/demo/member/reply.ts'
import { storageOf } from '../../src/demo/member/served-resources.ts'
import {
  type Exchange,
  type GivenObject,
  type MemberOptions,
  type MemberRequest,
  MemberServer,
  type OpenWatch,
  type StoredObject,
  uidFrom,
} from '../../src/demo/member-server.ts'
import { resourcesOfRelease } from '../../src/demo/older-releases.ts'
import { builtInResources } from '../../src/demo/recorded.ts'
import { apiVersionOf, type GroupResource } from '../../src/kube/group-resource.ts'
import { brokenOutput, pacedOutput, truncatedOutput } from './broken-output.ts'
import { freePort } from './free-port.ts'
import {
  concerns,
  RequestFaults,
  type SeenRequest,
  sameType,
  type Target,
} from './request-faults.ts'
import { NAMESPACES } from './resource-types.ts'
import { until } from './until.ts'

export interface Failure {
  readonly code: 401 | 403 | 404 | 410 | 429 | 500 | 503 | 504
  readonly message?: string
  readonly retryAfterSeconds?: number
}

const REASON = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
} as const

export type MemberClusterOptions = Partial<MemberOptions>

/** Starts a member with all built-in resources, and the namespaces every cluster has. */
export async function startMemberCluster(
  options: MemberClusterOptions = {},
): Promise<MemberCluster> {
  const cluster = new MemberCluster({ port: await freePort(), ...options })
  await cluster.server.start()
  return cluster
}

export class MemberCluster {
  readonly server: MemberServer
  readonly #faults: RequestFaults

  constructor(options: MemberClusterOptions) {
    const version = options.version ?? 'v1.33.1'
    this.server = new MemberServer({ resources: resourcesIn(version), ...options, version })
    for (const name of ['default', 'kube-system']) {
      if (!this.server.get(NAMESPACES, '', name)) {
        this.server.put(NAMESPACES, { metadata: { name }, status: { phase: 'Active' } })
      }
    }
    this.#faults = new RequestFaults(this.server)
  }

  get url(): string {
    return this.server.url
  }

  get resourceVersion(): string {
    return this.server.resourceVersion
  }

  put(of: GroupResource, object: GivenObject): StoredObject {
    return this.server.put(of, object)
  }

  remove(of: GroupResource, namespace: string, name: string): StoredObject | undefined {
    return this.server.remove(of, namespace, name)
  }

  async stop(): Promise<void> {
    await this.server.stop()
  }

  // What was asked

  requests(target: Target = {}): SeenRequest[] {
    return this.#faults.seen.filter((request) => concerns(target, request))
  }

  openWatches(of?: GroupResource): OpenWatch[] {
    return [...this.server.watches].filter((watch) => !of || sameType(of, watch.of))
  }

  /** Resolves when a watch of the type is open. */
  async watched(of: GroupResource): Promise<void> {
    await until(() => this.openWatches(of).length > 0)
  }

  // Connections

  /** Refuses connections, and cuts those there are. */
  async goDown(): Promise<void> {
    await this.server.stop()
  }

  /** Listens again, on the same port. */
  async comeBack(): Promise<void> {
    await this.server.start()
  }

  /** Cuts the connections of open watches, in the middle of whatever they were. */
  cutWatches(of?: GroupResource): void {
    for (const { exchange } of this.#faults.inFlight({ kind: 'watch', ...(of && { of }) }))
      exchange.response.destroy()
  }

  /** Ends open watches as the server's own timeout does. */
  endWatches(of?: GroupResource): void {
    for (const watch of this.openWatches(of)) watch.end()
  }

  /** The next watch of the type breaks off after so many events. */
  cutNextWatch(of: GroupResource, after: { events: number }): void {
    this.#faults.alterNext({ of, kind: 'watch' }, (exchange) => {
      let events = 0
      exchange.output = brokenOutput(exchange.output, (bytes, write) => {
        write(bytes)
        if (++events > after.events) exchange.response.destroy()
      })
      if (after.events === 0) setImmediate(() => exchange.response.destroy())
    })
  }

  /** Half-open: nothing is sent on open watches any more, and nothing says so. */
  freezeWatches(of?: GroupResource): void {
    for (const { gate } of this.#faults.inFlight({ kind: 'watch', ...(of && { of }) }))
      gate.open = false
  }

  /** The next watch goes silent after so many events, as behind a balancer that forgot it. */
  freezeNextWatch(of: GroupResource, after: { events: number }): void {
    this.#faults.alterNext({ of, kind: 'watch' }, (exchange) => {
      let events = 0
      exchange.output = brokenOutput(exchange.output, (bytes, write) => {
        if (events++ < after.events) write(bytes)
      })
    })
  }

  /** As behind a proxy that holds back what it gets: watches are accepted, and nothing comes of them. */
  holdBackWatches(of: GroupResource): () => void {
    return this.#faults.whenever({ of, kind: 'watch' }, (exchange) => {
      exchange.output = brokenOutput(exchange.output, () => undefined)
      return false
    })
  }

  // Answers

  /** Answers with an error instead. Returns how to stop it. */
  fail(target: Target, failure: Failure & { readonly times?: number }): () => void {
    return this.#faults.whenever(
      { ...target, ...(failure.times && { times: failure.times }) },
      (exchange) => {
        sendReply(failureReply(failure, exchange.request), {
          output: exchange.output,
          acceptEncoding: '',
        })
        return true
      },
    )
  }

  /** The member's own rights: 403 in Kubernetes' words. Returns how to grant them again. */
  forbid(target: { readonly of: GroupResource; readonly namespace?: string }): () => void {
    const before = this.server.authorize
    this.server.authorize = (attributes) =>
      before(attributes) &&
      !(
        sameType(target.of, attributes) &&
        (target.namespace === undefined || target.namespace === attributes.namespace)
      )
    return () => {
      this.server.authorize = before
    }
  }

  /** The next watch gets 410 as an ERROR event inside a 200 stream. */
  expireNextWatchInStream(of: GroupResource): void {
    const line = statusReply({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 1 (2)',
    }).body.toString()
    this.#faults.answerNext({ of, kind: 'watch' }, ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"type":"ERROR","object":${line.trim()}}\n`)
    })
  }

  /** The next watch gets 410 as an HTTP status, in odd words. */
  expireNextWatchByStatus(of: GroupResource, message = 'The resource has left the building'): void {
    this.fail({ of, kind: 'watch' }, { code: 410, message, times: 1 })
  }

  /** The next page that continues a list of the type gets 410. */
  expireNextContinue(of: GroupResource, times = 1): void {
    let left = times
    const stop = this.#faults.add((exchange) => {
      const { request } = exchange
      if (!concerns({ of, kind: 'list' }, request) || !request.query.get('continue')) return false
      if (--left <= 0) stop()
      const reply = failureReply({ code: 410 }, request)
      sendReply(reply, { output: exchange.output, acceptEncoding: '' })
      return true
    })
  }

  /** The next answer stops after so many bytes, with the connection. */
  truncateNext(target: Target, afterBytes: number): void {
    this.#faults.alterNext(target, (exchange) => {
      exchange.output = truncatedOutput(exchange.output, afterBytes)
    })
  }

  /** Answers 200 with exactly this body. */
  answerNext(target: Target, body: string | Buffer, contentType = 'application/json'): void {
    this.#faults.answerNext(target, ({ response }) => {
      response.writeHead(200, { 'content-type': contentType })
      response.end(body)
    })
  }

  /** Answers as it is told, until the function it returned is called. */
  answerWhenever(target: Target, answer: (exchange: Exchange) => Promise<void>): () => void {
    return this.#faults.whenever(target, (exchange) => {
      void answer(exchange)
      return true
    })
  }

  /** Sends a line that is no event on every open watch of the type. */
  sendRubbish(of: GroupResource, line: string | Buffer = '{"type":"ADDED","object":{"ki\n'): void {
    for (const watch of this.openWatches(of)) watch.sendRaw(Buffer.from(line))
  }

  /** Sends a bookmark now on every open watch of the type that asked for them. */
  sendBookmarks(of?: GroupResource): void {
    for (const watch of this.openWatches(of)) watch.sendBookmark()
  }

  /** Bodies come in pieces of so many bytes with a pause after each. */
  slowDown(target: Target, pace: { bytes: number; milliseconds: number }): () => void {
    return this.#faults.whenever(target, (exchange) => {
      exchange.output = pacedOutput(exchange.output, {
        cut: (position) => position % pace.bytes === 0,
        milliseconds: pace.milliseconds,
      })
      return false
    })
  }

  /** Bodies are cut into chunks at these byte positions of each body. */
  splitAt(target: Target, positions: readonly number[]): () => void {
    const cuts = new Set(positions)
    return this.#faults.whenever(target, (exchange) => {
      exchange.output = pacedOutput(exchange.output, {
        cut: (position) => cuts.has(position),
        milliseconds: 2,
      })
      return false
    })
  }

  /** Every byte of non-ASCII text comes in a chunk of its own, so characters are cut in two. */
  splitInsideCharacters(target: Target): () => void {
    return this.#faults.whenever(target, (exchange) => {
      exchange.output = pacedOutput(exchange.output, {
        cut: (_position, byte) => byte >= 0x80,
        milliseconds: 1,
      })
      return false
    })
  }

  /** Lines of watches end in CRLF. */
  endLinesWithCrLf(of?: GroupResource): () => void {
    const target: Target = { kind: 'watch', ...(of && { of }) }
    return this.#faults.whenever(target, (exchange) => {
      exchange.output = brokenOutput(exchange.output, (bytes, write) => {
        write(Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'))
      })
      return false
    })
  }

  // State

  /** Forgets all history: what resumes from before gets 410. */
  compact(): void {
    this.server.compact()
  }

  /** Gone from etcd, and no watcher is told. */
  loseDeletion(of: GroupResource, namespace: string, name: string): void {
    this.server.history.loseSilently(
      storageOf(of),
      namespace === '' ? name : `${namespace}/${name}`,
    )
  }

  /**
   * Gone from etcd; the watch cache goes on telling of it, to whoever asks for the newest state.
   *
   * @param snapshots - so many lists of one revision come from the cache, too, as from Kubernetes
   *   1.34 on until the server has seen that it differs from etcd.
   */
  loseFromCache(of: GroupResource, [namespace, name]: [string, string], snapshots = 0): void {
    let left = snapshots
    const cached = this.server.list(of)
    this.loseDeletion(of, namespace, name)
    this.#faults.whenever({ of, kind: 'list' }, ({ request, response }) => {
      const { query } = request
      if (query.get('resourceVersionMatch') === 'Exact' && left-- <= 0) return false
      if (query.get('continue')) return false
      const items = cached.map(({ text }) => text.toString()).join()
      const metadata = JSON.stringify({ resourceVersion: this.resourceVersion })
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"kind":"List","metadata":${metadata},"items":[${items}]}`)
      return true
    })
  }

  /** As an API server of its own kind: 400 to who asks for exactly one revision. */
  refuseExact(of: GroupResource): void {
    this.#faults.whenever({ of, kind: 'list' }, ({ request, response }) => {
      if (request.query.get('resourceVersionMatch') !== 'Exact') return false
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"kind":"Status","code":400,"reason":"BadRequest"}')
      return true
    })
  }

  /** Another release: types it no longer serves go, with their watches, and new ones come. */
  upgrade(version: string): void {
    const next = resourcesIn(version)
    const { resources } = this.server
    const served = new Set(next.map((resource) => `${apiVersionOf(resource)}/${resource.resource}`))
    this.server.upgrade(version)
    for (const resource of next) if (!resources.find(resource)) this.server.addResource(resource)
    for (const resource of resources.all().filter(({ custom }) => !custom)) {
      const known = served.has(`${apiVersionOf(resource)}/${resource.resource}`)
      if (!known) this.server.removeResource(resource)
    }
  }

  backup(): ReturnType<MemberServer['history']['backup']> {
    return this.server.history.backup()
  }

  /** As after an etcd restore: old objects, and revisions that were given out before. */
  restore(backup: ReturnType<MemberCluster['backup']>): void {
    this.server.history.restore(backup)
    this.cutWatches()
  }

  /** A cluster rebuilt under the same address: nothing else tells it from the old one. */
  replaceControlPlane(): void {
    const name = 'kube-system'
    const uid = uidFrom(`${this.resourceVersion}/${name}`)
    this.server.remove(NAMESPACES, '', name)
    this.server.put(NAMESPACES, { metadata: { name, uid }, status: { phase: 'Active' } })
  }

  controlPlaneUid(): string {
    return this.server.get(NAMESPACES, '', 'kube-system')!.uid
  }

  /** Deletes a namespace and all that is in it. */
  removeNamespace(name: string): void {
    for (const type of this.server.resources.all().filter(({ namespaced }) => namespaced)) {
      for (const object of this.server.list(type)) {
        if (object.namespace === name) this.remove(type, name, object.name)
      }
    }
    this.remove(NAMESPACES, '', name)
  }

  // Discovery

  /** The API server behind a group is down: plain discovery answers 503, aggregated says stale. */
  breakGroup(group: string): () => void {
    this.server.brokenGroups.add(group)
    return () => void this.server.brokenGroups.delete(group)
  }

  /** Discovery answers with something that is no discovery document. */
  malformDiscovery(
    body = '{"kind":"APIGroupDiscoveryList","items":[{"versions":"none"}]}',
  ): () => void {
    return this.#faults.whenever({ kind: 'discovery' }, ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(body)
      return true
    })
  }

  /** Custom objects in lists come without kind and apiVersion, as those of built-in types do. */
  listWithoutKinds(of: GroupResource): void {
    for (const resource of this.server.resources.all()) {
      if (sameType(of, resource)) this.server.addResource({ ...resource, custom: false })
    }
  }
}

function resourcesIn(version: string) {
  return resourcesOfRelease(builtInResources(), Number(releaseOf(version).minor))
}

function failureReply(failure: Failure, request: MemberRequest) {
  const { code, retryAfterSeconds } = failure
  const message = failure.message ?? `${request.kind} of ${request.resource || request.path} fails`
  const details = {
    ...(request.group && { group: request.group }),
    ...(request.resource && { kind: request.resource }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
  return statusReply({ code, reason: REASON[code], message, details })
}
