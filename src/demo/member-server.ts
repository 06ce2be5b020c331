/**
 * A member cluster's API server, in memory: it discovers, lists, watches and gets as
 * kube-apiserver does, over real HTTP or HTTPS.
 *
 * Objects are exact JSON text (member/stored-object.ts), history is etcd's (member/object-history.ts).
 * What goes wrong on purpose is put in from outside, through `intercept`.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'
import {
  apiVersionOf,
  type GroupResource,
  type GroupVersionResource,
} from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { messageOf } from '../kube/message-of.ts'
import { StatusError, toStatus } from '../kube/status-error.ts'
import { timestamp } from '../kube/timestamp.ts'
import { type Attributes, answer, type Exchange, type Interceptor } from './member/answer.ts'
import { authenticate, type TlsOptions } from './member/authenticate.ts'
import { ObjectHistory } from './member/object-history.ts'
import type { OpenApiDocuments } from './member/openapi.ts'
import { releaseOf } from './member/release.ts'
import { MemberError, type Output, sendReply, statusReply } from './member/reply.ts'
import { readRequest } from './member/request.ts'
import {
  type CustomResourceDefinition,
  type MemberResource,
  resourcesOfDefinition,
  ServedResources,
  storageOf,
} from './member/served-resources.ts'
import { type StoredObject, storedObject } from './member/stored-object.ts'
import type { OpenWatch } from './member/watch.ts'

export type { Attributes, Exchange, Interceptor } from './member/answer.ts'
export type { MemberRequest, RequestKind } from './member/request.ts'
export type { MemberResource, Subresource } from './member/served-resources.ts'
export type { StoredObject } from './member/stored-object.ts'
export type { OpenWatch } from './member/watch.ts'

/** An object to serve: exact JSON text, or a value to be written as JSON. */
export type GivenObject = KubeObject | string | Buffer

export interface MemberOptions {
  /** `v1.33.1`: also decides which forms of discovery and OpenAPI are offered. */
  readonly version: string
  readonly resources: readonly MemberResource[]
  readonly objects?: ReadonlyArray<{ readonly of: GroupResource; readonly object: GivenObject }>
  readonly openApi?: OpenApiDocuments
  readonly tls?: TlsOptions
  /** Bearer token → user name. Without any, and without a client CA, everybody may ask. */
  readonly tokens?: Readonly<Record<string, string>>
  /** What authenticated users may; left out, everything. */
  readonly authorize?: (attributes: Attributes) => boolean
  /** Where the API starts, as behind a proxy: `/k8s/clusters/c-1`. */
  readonly basePath?: string
  readonly firstRevision?: bigint
  /** Changes that are kept for watches to resume from. */
  readonly maxChanges?: number
  readonly bookmarkSeconds?: number
  readonly port?: number
  readonly clock?: Clock
}

export class MemberServer {
  readonly history: ObjectHistory
  readonly resources: ServedResources
  /** Watches that clients hold open now. */
  readonly watches = new Set<OpenWatch>()
  /** Groups whose own API server is down, as an aggregated API can be. */
  readonly brokenGroups = new Set<string>()
  readonly tokens: Map<string, string>
  /** Replaceable: what authenticated users may. */
  authorize: (attributes: Attributes) => boolean
  readonly #interceptors: Interceptor[] = []
  readonly #options: MemberOptions
  #release: ReturnType<typeof releaseOf>
  readonly #sockets = new Set<Socket>()
  #server: Server | TlsServer | undefined
  #tls: TlsOptions | undefined
  #port: number

  constructor(options: MemberOptions) {
    this.#options = options
    this.#release = releaseOf(options.version)
    this.#port = options.port ?? 0
    this.#tls = options.tls
    this.tokens = new Map(Object.entries(options.tokens ?? {}))
    this.authorize = options.authorize ?? (() => true)
    this.resources = new ServedResources(options.resources)
    this.history = new ObjectHistory({
      firstRevision: options.firstRevision ?? 100n,
      maxChanges: options.maxChanges ?? 100_000,
    })
    for (const { of, object } of options.objects ?? []) this.put(of, object)
  }

  /** `https://127.0.0.1:PORT`, with the base path. */
  get url(): string {
    const scheme = this.#tls ? 'https' : 'http'
    return `${scheme}://127.0.0.1:${this.#port}${this.#options.basePath ?? ''}`
  }

  get resourceVersion(): string {
    return String(this.history.revision)
  }

  /** Accepts connections; after a {@link stop} on the port it had before. */
  async start(): Promise<void> {
    const listener = (message: IncomingMessage, response: ServerResponse) => {
      void this.#handle(message, response)
    }
    const server = this.#tls
      ? createTlsServer(tlsContext(this.#tls), listener)
      : createServer(listener)
    // Watches stay silent for long.
    server.requestTimeout = 0
    server.keepAliveTimeout = 120_000
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
  }

  /** Cuts every connection and refuses new ones; objects stay. */
  async stop(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    // Those too that have not shaken hands yet: HTTP does not know of them, and would wait.
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Creates or replaces an object. A CustomResourceDefinition makes its types served. */
  put(of: GroupResource, object: GivenObject): StoredObject {
    const resource = this.resources.anyVersion(of)
    if (!resource) throw new Error(`${of.resource}.${of.group} is not served here`)
    const text = textOf(object)
    const stored = this.history.put(storageOf(of), (revision) =>
      storedObject(text, {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        revision,
        previous: (key) => this.history.get(storageOf(of), key),
        fresh: {
          uid: uidFrom(`${of.group}/${of.resource}/${revision}`),
          creationTimestamp: timestamp((this.#options.clock ?? systemClock).now()),
        },
      }),
    )
    if (isDefinition(of)) this.#define(stored)
    return stored
  }

  /** Deletes an object; of a CustomResourceDefinition, its objects and types too. */
  remove(of: GroupResource, namespace: string, name: string): StoredObject | undefined {
    const key = namespace === '' ? name : `${namespace}/${name}`
    if (isDefinition(of)) {
      const crd = this.history.get(storageOf(of), key)
      if (crd) this.#undefine(crd)
    }
    return this.history.remove(storageOf(of), key)
  }

  get(of: GroupResource, namespace: string, name: string): StoredObject | undefined {
    return this.history.get(storageOf(of), namespace === '' ? name : `${namespace}/${name}`)
  }

  list(of: GroupResource): readonly StoredObject[] {
    return this.history.snapshot(storageOf(of))
  }

  addResource(resource: MemberResource): void {
    this.resources.add(resource)
  }

  /** Stops serving one version; its watches end. Objects stay, for other versions. */
  removeResource(of: GroupVersionResource): void {
    this.resources.remove(of)
    this.#endWatches(of)
  }

  /** Forgets history: watches and pages that start before now get 410. */
  compact(): void {
    this.history.compact()
  }

  /** Another Kubernetes version from now on; what it serves is {@link addResource}'s. */
  upgrade(version: string): void {
    this.#release = releaseOf(version)
  }

  /** Another certificate for connections to come, as after a renewal. */
  renewCertificate(tls: TlsOptions): void {
    this.#tls = tls
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(tlsContext(tls))
  }

  /** Asks `interceptor` before every answer, the latest first. Returns how to take it away. */
  intercept(interceptor: Interceptor): () => void {
    this.#interceptors.unshift(interceptor)
    return () => {
      const index = this.#interceptors.indexOf(interceptor)
      if (index >= 0) this.#interceptors.splice(index, 1)
    }
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    // No member reads bodies, and a client that hung up needs no answer.
    message.resume()
    response.on('error', () => response.destroy())
    const output: Output = {
      response,
      write: (bytes) => void response.write(bytes),
      end: () => void response.end(),
    }
    const request = readRequest(message, this.#options.basePath ?? '')
    const exchange: Exchange = { request, response, output }
    try {
      for (const interceptor of [...this.#interceptors]) {
        if (await interceptor(exchange)) return
      }
      answer(exchange, authenticate(message, this.tokens), this.#answering())
    } catch (error) {
      if (response.headersSent) response.destroy()
      else sendReply(failure(error), { output: exchange.output, acceptEncoding: '' })
    }
  }

  #answering() {
    return {
      history: this.history,
      resources: this.resources,
      release: this.#release,
      openApi: this.#options.openApi ?? new Map<string, Buffer>(),
      brokenGroups: this.brokenGroups,
      watches: this.watches,
      clock: this.#options.clock ?? systemClock,
      bookmarkSeconds: this.#options.bookmarkSeconds ?? 60,
      open: this.tokens.size === 0 && this.#tls?.clientCa === undefined,
      authorize: this.authorize,
    }
  }

  /** A changed definition rebuilds its handlers: watches of the type end, as on a real server. */
  #define(crd: StoredObject): void {
    const resources = resourcesOfDefinition(definitionOf(crd))
    this.#forget(crd)
    for (const resource of resources) this.resources.add(resource)
  }

  #undefine(crd: StoredObject): void {
    const { group, names } = definitionOf(crd).spec
    const of = { group, resource: names.plural }
    for (const { namespace, name } of this.list(of)) this.remove(of, namespace, name)
    this.#forget(crd)
  }

  #forget(crd: StoredObject): void {
    const { group, names } = definitionOf(crd).spec
    const served = this.resources
      .all()
      .filter((resource) => resource.group === group && resource.resource === names.plural)
    for (const resource of served) this.removeResource(resource)
  }

  #endWatches(of: GroupVersionResource): void {
    for (const watch of [...this.watches]) {
      const { group, version, resource } = watch.of
      if (group === of.group && version === of.version && resource === of.resource) watch.end()
    }
  }
}

function tlsContext({ key, cert, clientCa }: TlsOptions) {
  // A client without a certificate is let in here, and refused by an answer.
  const clients = clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: false }
  return { key, cert, ...clients }
}

function isDefinition({ group, resource }: GroupResource): boolean {
  return group === 'apiextensions.k8s.io' && resource === 'customresourcedefinitions'
}

function definitionOf(crd: StoredObject): CustomResourceDefinition {
  return JSON.parse(crd.text.toString()) as CustomResourceDefinition
}

function textOf(object: GivenObject): Buffer {
  if (Buffer.isBuffer(object)) return object
  return Buffer.from(typeof object === 'string' ? object : JSON.stringify(object))
}

/** A version 4 UUID made from text, so that a simulated cluster looks the same each time. */
export function uidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function failure(error: unknown) {
  if (error instanceof MemberError) return statusReply(error.status)
  if (error instanceof StatusError) return statusReply(toStatus(error))
  const message = messageOf(error)
  return statusReply({ code: 500, reason: 'InternalError', message })
}
