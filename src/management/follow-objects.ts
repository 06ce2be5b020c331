/**
 * Keeps the objects of one path of the management API server in memory: listed, then watched, for
 * ever, by the engine that follows members (sync/list-watch.ts).
 *
 * For few and small objects only: registrations, Secrets of one namespace, one ConfigMap.
 */
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import type { Logger } from '../log.ts'
import { isObject, parseJson } from '../registration/json-text.ts'
import { JsonError } from '../sync/json-bytes.ts'
import { limitsFrom } from '../sync/limits.ts'
import { type FollowLimits, ListWatch } from '../sync/list-watch.ts'
import type { MemberError } from '../sync/member-error.ts'
import type { MirrorSink } from '../sync/mirror-sink.ts'
import { identityOf } from '../sync/object-identity.ts'
import type { ManagementClient } from './client.ts'

/** `name`, or `namespace/name`. */
export type ObjectName = string

export interface ObjectChange {
  /** Left out: it is new. */
  readonly before: JsonObject | undefined
  /** Left out: it is gone. */
  readonly after: JsonObject | undefined
}

export interface FollowRequest {
  readonly client: ManagementClient
  /** `/api/v1/namespaces/kube-system/configmaps` */
  readonly path: string
  /** The plural, for messages. */
  readonly resource: string
  /** Selectors: `{ fieldSelector: 'metadata.name=x' }`. */
  readonly query?: Readonly<Record<string, string>>
  /** A list is complete: told without a change; or one object changed since. */
  readonly changed: (change?: ObjectChange) => void
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<FollowLimits>
}

export interface FollowedObjects {
  /** Undefined until the first list was complete. Never changed once handed out. */
  readonly objects: ReadonlyMap<ObjectName, JsonObject> | undefined
  /** Why `objects` may be out of date, in a sentence; undefined while they are followed. */
  readonly trouble: string | undefined
  stop(): Promise<void>
}

export function followObjects(request: FollowRequest): FollowedObjects {
  const { client, path, resource, query, clock, log } = request
  const sink = new ObjectsSink(request)
  const stopping = new AbortController()
  const engine = new ListWatch({
    source: { client: client.member, resource, ...(query && { query }) },
    paths: [{ path }],
    watchable: true,
    limits: { ...limitsFrom().follow, ...request.limits },
    clock,
    sink,
    gates: [],
    weight: 0,
  })
  const running = engine.run(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error, path }, 'following has ended')
  })
  return {
    get objects() {
      return sink.objects
    },
    get trouble() {
      return sink.trouble
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

class ObjectsSink implements MirrorSink {
  objects: ReadonlyMap<ObjectName, JsonObject> | undefined
  trouble: string | undefined
  readonly #request: FollowRequest
  #listing = new Map<ObjectName, JsonObject>()
  #justListed = false

  constructor(request: FollowRequest) {
    this.#request = request
    this.trouble = `${request.resource} were not listed yet`
  }

  resumeFrom(): undefined {
    return undefined
  }

  beginList(): void {
    this.#listing = new Map()
  }

  beginPart(): void {
    this.#listing = new Map()
  }

  restartedPart(): void {
    this.#listing = new Map()
  }

  async listed(item: Parameters<MirrorSink['listed']>[0]): Promise<void> {
    if ('tooLargeBytes' in item) {
      this.#request.log.warn({ bytes: item.tooLargeBytes }, 'an object is too large to be followed')
      return
    }
    this.#listing.set(nameIn(item.bytes), objectIn(item.bytes))
  }

  async endList(): Promise<void> {
    this.objects = this.#listing
    this.#justListed = true
    this.#isWell()
    this.#request.changed()
  }

  closed(): undefined {
    return undefined
  }

  justListed(): boolean {
    return this.#justListed
  }

  async changed({ type, object }: Parameters<MirrorSink['changed']>[0]): Promise<void> {
    const next = new Map(this.objects)
    const name = nameIn(object)
    const before = next.get(name)
    const after = type === 'DELETED' ? undefined : objectIn(object)
    if (after) next.set(name, after)
    else next.delete(name)
    this.objects = next
    this.#request.changed({ before, after })
  }

  advance(): void {
    // A restart lists: there is no position to keep.
  }

  following(): void {
    this.#justListed = false
    this.#isWell()
  }

  failed({ message }: MemberError): void {
    const trouble = `${this.#request.resource}: ${message}`
    if (trouble !== this.trouble) this.#request.log.warn({ trouble }, 'following is interrupted')
    this.trouble = trouble
  }

  #isWell(): void {
    if (this.objects !== undefined) this.trouble = undefined
  }
}

function nameIn(bytes: Buffer): ObjectName {
  const { namespace, name } = identityOf(bytes)
  return namespace === '' ? name : `${namespace}/${name}`
}

/** @throws JsonError, which the engine takes for a reason to list anew. */
function objectIn(bytes: Buffer): JsonObject {
  try {
    const { value } = parseJson(bytes.toString('utf8'))
    if (isObject(value)) return value
  } catch (error) {
    throw new JsonError('the object is not JSON', { cause: error })
  }
  throw new JsonError('the object is no object')
}
