/**
 * What one live cluster shows of itself, by lists alone: bounded at once, within a budget of time.
 *
 * Every resource ends up as a list, as empty because the cluster does not serve it (only on the
 * word of its own discovery), or as a blind spot. Half a list is no list.
 *
 * Not here  connections and credentials: they are the reader's, handed in.
 */
import type { Clock } from '../clock.ts'
import { FLEET_GROUP } from '../kube/fleet-prefix.ts'
import { type Fields, fields } from '../printers/read-field.ts'
import { type Cause, causeOf, Unseen } from './cause.ts'
import { isServed } from './is-served.ts'
import { isOfConnection, type MemberReader, readFailure } from './member-reader.ts'
import type { Observation } from './observation.ts'
import { listPlan } from './read-lists.ts'
import { recordsIn } from './read-object.ts'
import { slimmed } from './slim.ts'
import { Unreachable } from './sweep.ts'
import { resourcesAskedFor, type SweptResource } from './swept-resources.ts'

export interface LiveRequest {
  readonly reader: MemberReader
  /** Left out: the whole cluster. */
  readonly namespace?: string
  readonly nodes?: boolean
  readonly budgetMilliseconds: number
  readonly clock: Clock
  /**
   * Where a server answers for the cluster: what it knows of each resource beforehand. `empty` is
   * known to have no objects, of `partial` not all of them are there; any other word is why it
   * cannot be read. Left out, all is read.
   */
  readonly stateOf?: (resource: SweptResource) => 'read' | 'empty' | Cause['word']
  /** Ends it before its budget does. */
  readonly signal: AbortSignal
}

/** Lists of one cluster at once. */
const PARALLEL = 6

/** @throws Unreachable when no list at all could be read. */
export async function observeLive(request: LiveRequest): Promise<Observation> {
  const deadline = AbortSignal.any([
    request.signal,
    AbortSignal.timeout(request.budgetMilliseconds),
  ])
  const seen: Seen = { lists: {}, causes: new Map(), failedConnections: 0, unserved: 0 }
  const left = [...resourcesAskedFor(request.namespace)]
  const worker = async () => {
    for (let resource = left.shift(); resource; resource = left.shift()) {
      // Out of reach: the other lists would fail as well, and only take time to.
      if (isOutOfReach(seen)) seen.causes.set(resource, causeOf(seen.lastFailure))
      else await see(resource, { request, seen, deadline })
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  const { lists, causes, lastFailure, unserved } = seen
  const reason = deadline.aborted ? 'timed out' : 'connecting to the cluster'
  const known = Object.keys(lists).length
  if (known === 0) throw new Unreachable(reason, { cause: lastFailure })
  if (known === unserved) {
    const isOther = lastFailure === undefined || readFailure(lastFailure) === 'not-found'
    const cause = isOther ? await whatIsThere(request.reader, deadline) : lastFailure
    throw new Unreachable(reason, { cause })
  }
  return { now: request.clock.now(), lists, blindSpots: new Set(causes.keys()), causes }
}

/** No cluster serves nothing at all: whoever answers is something else, and all is not well there. */
async function whatIsThere(reader: MemberReader, signal: AbortSignal): Promise<Unseen> {
  const groups = await reader.readJson('/apis', signal).catch(() => undefined)
  const isOurs = recordsIn(fields(groups).groups).some(({ name }) => name === FLEET_GROUP)
  return new Unseen(isOurs ? 'no-cluster-fleetglass' : 'no-cluster')
}

interface Seen {
  readonly lists: { [K in SweptResource]?: readonly Fields[] }
  readonly causes: Map<SweptResource, Cause>
  failedConnections: number
  /** Lists that are empty only because discovery says that there are none. */
  unserved: number
  lastFailure?: unknown
}

function isOutOfReach({ failedConnections, lists }: Seen): boolean {
  return failedConnections >= PARALLEL && Object.keys(lists).length === 0
}

interface Seeing {
  readonly request: LiveRequest
  readonly seen: Seen
  readonly deadline: AbortSignal
}

async function see(resource: SweptResource, { request, seen, deadline }: Seeing): Promise<void> {
  const state = request.stateOf?.(resource) ?? 'read'
  if (state === 'empty') seen.lists[resource] = []
  else if (state !== 'read') seen.causes.set(resource, { word: state })
  if (state !== 'read' && state !== 'partial') return
  try {
    const objects = await readOne(resource, request, deadline)
    seen.lists[resource] = objects ?? []
    if (!objects) seen.unserved++
  } catch (error) {
    seen.causes.set(resource, causeOf(error, deadline))
    seen.lastFailure = error
    if (isOfConnection(error)) seen.failedConnections++
  }
}

/** Undefined: the cluster does not serve it. */
async function readOne(
  resource: SweptResource,
  request: LiveRequest,
  signal: AbortSignal,
): Promise<readonly Fields[] | undefined> {
  signal.throwIfAborted()
  const { reader, clock, namespace, nodes = false } = request
  const keep = (object: Fields) => slimmed(resource, object)
  for (const lists of listPlan(resource, { namespace, nodes })) {
    const found: Fields[][] = []
    for (const asked of lists) {
      const list = () => reader.list({ ...asked, resource, signal, keep })
      const objects = await patiently(clock, signal, list)
      if (!objects) break
      found.push([...objects])
    }
    if (found.length === lists.length)
      return found.length === 1 ? found[0]! : distinct(found.flat())
  }
  if (await isServed(resource, reader, signal)) throw new Unseen('not-found')
  return undefined
}

/** One event may be in several of the lists of events. */
function distinct(objects: readonly Fields[]): readonly Fields[] {
  const seen = new Set<unknown>()
  return objects.filter(({ metadata }) => {
    const { uid } = fields(metadata)
    const isNew = uid === undefined || !seen.has(uid)
    seen.add(uid)
    return isNew
  })
}

/** Within the budget; a server that we ask for many clusters at once bounds us by user. */
const PATIENT_ATTEMPTS = 10
const MOST_PATIENCE_SECONDS = 10

/** A cluster that is asked too much says when to come back. @returns undefined when it is not there. */
async function patiently<T>(
  clock: Clock,
  signal: AbortSignal,
  list: () => Promise<T>,
): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await list()
    } catch (error) {
      const failure = readFailure(error)
      if (failure === 'not-found') return undefined
      if (failure !== 'throttled' || attempt === PATIENT_ATTEMPTS) throw error
      const { retryAfterSeconds = 1 } = error as { retryAfterSeconds?: number }
      await clock.sleep(Math.min(retryAfterSeconds, MOST_PATIENCE_SECONDS) * 1000, signal)
    }
  }
}
