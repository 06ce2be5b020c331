/**
 * Member clusters to be measured with, in a process of their own: discovery, lists in pages and
 * watches over plain HTTP, and as many changes a second as are asked for.
 *
 * Objects are bytes before the first request comes, so that the reader is measured and not this.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Made,
  mixed,
  NAMESPACE_COUNT,
  namespace,
  pod,
  type Sizes,
  workloadObject,
} from './member-objects.ts'

/** Sent to the process. */
export interface Mutate {
  readonly rate: number
  readonly seconds: number
}

/** Sent by it: first the members' addresses, then one answer to each {@link Mutate}. */
export type FleetMessage =
  | { readonly ready: readonly string[] }
  | {
      readonly sent: number
      readonly last: ReadonlyArray<{ cluster: number; name: string; resourceVersion: string }>
    }

interface Type {
  readonly kind: string
  readonly groupVersion: 'v1' | 'apps/v1'
  readonly namespaced: boolean
  readonly count: number
  readonly make: (made: Made) => object
}

const sizes: Sizes = JSON.parse(process.argv[2]!)
const TYPES: Readonly<Record<string, Type>> = {
  namespaces: {
    kind: 'Namespace',
    groupVersion: 'v1',
    namespaced: false,
    count: NAMESPACE_COUNT,
    make: namespace,
  },
  pods: {
    kind: 'Pod',
    groupVersion: 'v1',
    namespaced: true,
    count: sizes.pods,
    make: (made) => pod(made, sizes.workloads),
  },
  deployments: {
    kind: 'Deployment',
    groupVersion: 'apps/v1',
    namespaced: true,
    count: sizes.workloads,
    make: (made) => workloadObject(made, 'deployments'),
  },
  replicasets: {
    kind: 'ReplicaSet',
    groupVersion: 'apps/v1',
    namespaced: true,
    count: sizes.workloads,
    make: (made) => workloadObject(made, 'replicasets'),
  },
}
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
const NOT_FOUND = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
}
const BOOKMARK_MILLISECONDS = 30_000
const TICK_MILLISECONDS = 10

let revision = 1_000_000

class Member {
  readonly #cluster: number
  readonly #objects = new Map<string, Buffer[]>()
  readonly #changes = new Map<number, number>()
  readonly #watches = new Set<ServerResponse>()

  constructor(cluster: number) {
    this.#cluster = cluster
    for (const [resource, { count, make }] of Object.entries(TYPES)) {
      const made = (index: number) => ({
        cluster,
        index,
        changes: 0,
        resourceVersion: 1000 + index,
      })
      const all = Array.from({ length: count }, (_, i) =>
        Buffer.from(JSON.stringify(make(made(i)))),
      )
      this.#objects.set(resource, all)
    }
  }

  async listen(): Promise<string> {
    const server = createServer((request, response) => this.#answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Changes the status of one pod, and tells it to who watches. */
  change(index: number): { cluster: number; name: string; resourceVersion: string } {
    const changes = (this.#changes.get(index) ?? 0) + 1
    this.#changes.set(index, changes)
    revision++
    const object = pod(
      { cluster: this.#cluster, index, changes, resourceVersion: revision },
      sizes.workloads,
    )
    this.#objects.get('pods')![index] = Buffer.from(JSON.stringify(object))
    const line = `${JSON.stringify({ type: 'MODIFIED', object: { kind: 'Pod', apiVersion: 'v1', ...object } })}\n`
    for (const watch of this.#watches) watch.write(line)
    return { cluster: this.#cluster, name: object.metadata.name, resourceVersion: String(revision) }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url!, 'http://member')
    const document = documentAt(pathname)
    if (document) {
      json(response, document)
      return
    }
    const resource = pathname.split('/').at(-1)!
    const type = TYPES[resource]
    if (!type) json(response, NOT_FOUND, 404)
    else if (searchParams.has('watch')) this.#watch(response, resource, type)
    else this.#list(response, { resource, type, query: searchParams })
  }

  #watch(response: ServerResponse, resource: string, { kind, groupVersion }: Type): void {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.flushHeaders()
    if (resource === 'pods') this.#watches.add(response)
    const bookmarks = setInterval(() => {
      const object = {
        kind,
        apiVersion: groupVersion,
        metadata: { resourceVersion: String(revision) },
      }
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
    }, BOOKMARK_MILLISECONDS)
    response.once('close', () => {
      clearInterval(bookmarks)
      this.#watches.delete(response)
    })
  }

  #list(
    response: ServerResponse,
    asked: { resource: string; type: Type; query: URLSearchParams },
  ): void {
    const { resource, type, query } = asked
    const all = this.#objects.get(resource)!
    const from = Number(query.get('continue') ?? 0)
    const to = Math.min(all.length, from + (Number(query.get('limit')) || all.length))
    const metadata = {
      resourceVersion: String(revision),
      ...(to < all.length && { continue: String(to) }),
    }
    const start = JSON.stringify({
      kind: `${type.kind}List`,
      apiVersion: type.groupVersion,
      metadata,
    })
    response.setHeader('Content-Type', 'application/json')
    response.write(`${start.slice(0, -1)},"items":[`)
    const parts = all.slice(from, to).flatMap((object, i) => (i === 0 ? [object] : [COMMA, object]))
    response.end(Buffer.concat([...parts, END]))
  }
}

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

function documentAt(path: string): object | undefined {
  switch (path) {
    case '/version':
      return { major: '1', minor: '33', gitVersion: 'v1.33.1', platform: 'linux/amd64' }
    case '/healthz':
    case '/livez':
    case '/readyz':
      return {}
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] }
    case '/apis': {
      const version = { groupVersion: 'apps/v1', version: 'v1' }
      const groups = [{ name: 'apps', versions: [version], preferredVersion: version }]
      return { kind: 'APIGroupList', apiVersion: 'v1', groups }
    }
    case '/api/v1':
      return resourceList('v1')
    case '/apis/apps/v1':
      return resourceList('apps/v1')
    default:
      return undefined
  }
}

function resourceList(groupVersion: string): object {
  const resources = Object.entries(TYPES)
    .filter(([, type]) => type.groupVersion === groupVersion)
    .map(([name, { kind, namespaced }]) => ({
      name,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: VERBS,
    }))
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** Spreads the changes over all members and pods; what is due is sent at once. */
async function mutate(
  members: readonly Member[],
  { rate, seconds }: Mutate,
): Promise<FleetMessage> {
  const started = performance.now()
  const last = new Map<number, { cluster: number; name: string; resourceVersion: string }>()
  let sent = 0
  while (sent < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - started) / 1000) * rate)
    for (; sent < due; sent++) {
      const change = members[sent % members.length]!.change(mixed(revision, 5) % sizes.pods)
      last.set(change.cluster, change)
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MILLISECONDS))
  }
  return { sent, last: [...last.values()] }
}

const members = Array.from({ length: sizes.clusters }, (_, cluster) => new Member(cluster))
const ready = await Promise.all(members.map((member) => member.listen()))
process.send!({ ready } satisfies FleetMessage)
process.on('disconnect', () => process.exit())
process.on('message', async (message: Mutate) => {
  process.send!(await mutate(members, message))
})
