/**
 * Kubernetes Events about PediaClusters: what `kubectl describe pediacluster` shows below the
 * conditions. One that is said again is counted, whichever process says it.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { qualifiedResource } from '../kube/group-resource.ts'
import type { Condition, PediaClusterStatus, ResourceStatus } from '../kube/pedia-cluster.ts'
import { timestamp } from '../kube/timestamp.ts'
import type { Logger } from '../log.ts'
import { type ManagementClient, MERGE_PATCH } from './client.ts'
import { hasStatus } from './management-error.ts'
import { FIELD_MANAGER, PEDIA_CLUSTER_TYPE } from './pedia-clusters.ts'

export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase. */
  readonly reason: string
  readonly message: string
}

/** Reasons that pass by themselves: every start goes through them. */
const PASSING = new Set(['Pending', 'NotReady'])
const RESOURCES_NAMED = 5

/** What is news in a status, for whoever did not look at it. Pure. */
export function newsIn(
  before: PediaClusterStatus | undefined,
  after: PediaClusterStatus,
): readonly ClusterEvent[] {
  const known = new Map((before?.conditions ?? []).map((one) => [one.type, one]))
  const events = (after.conditions ?? []).flatMap((one) => conditionNews(known.get(one.type), one))
  return [...events, ...resourceNews(before, after)]
}

function conditionNews(before: Condition | undefined, after: Condition): readonly ClusterEvent[] {
  const { type, status, reason, message } = after
  if (type === 'Ready') {
    // It sums up the others, whose own words are told; that all is well is told once.
    if (status !== 'True' || before?.status === 'True') return []
    return [{ type: 'Normal', reason, message: 'the mirror is complete and current' }]
  }
  const isSaid = before?.reason === reason && before.message === message
  if (status === 'True' || isSaid || PASSING.has(reason)) return []
  return [{ type: reason === 'Paused' ? 'Normal' : 'Warning', reason, message }]
}

function resourceNews(
  before: PediaClusterStatus | undefined,
  after: PediaClusterStatus,
): readonly ClusterEvent[] {
  const known = new Set(failing(before).map(({ text }) => text))
  const failed = failing(after).filter(({ text }) => !known.has(text))
  const more = failed.length - RESOURCES_NAMED
  const texts = failed.slice(0, RESOURCES_NAMED).map(({ text }) => text)
  const message = `${texts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
  return failed.length === 0 ? [] : [{ type: 'Warning', reason: 'ResourcesNotSynced', message }]
}

function failing(status: PediaClusterStatus | undefined): readonly { readonly text: string }[] {
  return (status?.syncResources ?? []).flatMap(({ group, resources }) =>
    resources.flatMap((one) => failure(group, one)),
  )
}

function failure(group: string, { name: resource, syncConditions }: ResourceStatus) {
  const [condition] = syncConditions
  if (condition?.status !== 'Error') return []
  const why = condition.message || condition.reason
  return [{ text: `${qualifiedResource({ group, resource })}: ${why}` }]
}

export interface EventTarget {
  readonly name: string
  readonly uid: string
}

export interface EventRecorder {
  /** Never throws: an event that cannot be written is logged. */
  record(target: EventTarget, events: readonly ClusterEvent[]): Promise<void>
}

/** Of objects without a namespace, Events are in `default`. */
const EVENTS = '/api/v1/namespaces/default/events'
/** apimachinery's own limit. */
const MESSAGE_BYTES = 1024

export function createEventRecorder(parts: {
  readonly client: ManagementClient
  /** Of this process. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Logger
}): EventRecorder {
  const { client, instance, clock, log } = parts
  return {
    async record(target, events) {
      for (const event of events) {
        const at = timestamp(clock.now())
        await put(client, eventObject(target, event, { instance, at })).catch((error: unknown) => {
          log.warn({ err: error, cluster: target.name }, 'an Event was not written')
        })
      }
    },
  }
}

interface Said {
  readonly instance: string
  /** RFC 3339, seconds. */
  readonly at: string
}

function eventObject(target: EventTarget, event: ClusterEvent, { instance, at }: Said) {
  const message = cut(event.message)
  const said = [target.uid, event.type, event.reason, message].join('\n')
  const hash = createHash('sha256').update(said).digest('hex').slice(0, 16)
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${nameStart(target.name)}.${hash}`, namespace: 'default' },
    involvedObject: { ...PEDIA_CLUSTER_TYPE, name: target.name, uid: target.uid },
    ...{ type: event.type, reason: event.reason, message },
    source: { component: FIELD_MANAGER },
    ...{ reportingComponent: FIELD_MANAGER, reportingInstance: instance },
    ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
  }
}

/** With the hash, no longer than a name may be; each part ends in a letter or digit. */
function nameStart(name: string): string {
  return name.slice(0, 236).replace(/[^a-z0-9]+$/, '')
}

function cut(message: string): string {
  if (Buffer.byteLength(message) <= MESSAGE_BYTES) return message
  // A character that was cut in two becomes U+FFFD, and goes.
  const head = Buffer.from(message).subarray(0, MESSAGE_BYTES - 3)
  return `${head.toString('utf8').replace(/\uFFFD$/, '')}…`
}

async function put(client: ManagementClient, event: ReturnType<typeof eventObject>): Promise<void> {
  try {
    await client.request('POST', EVENTS, { body: event })
  } catch (error) {
    if (!hasStatus(error, 409)) throw error
    await countAgain(client, event)
  }
}

async function countAgain(
  client: ManagementClient,
  { metadata, lastTimestamp }: ReturnType<typeof eventObject>,
): Promise<void> {
  const path = `${EVENTS}/${metadata.name}`
  const { body } = await client.request('GET', path)
  const { count = 0 } = body as { readonly count?: number }
  await client.request('PATCH', path, {
    body: { count: count + 1, lastTimestamp },
    contentType: MERGE_PATCH,
    query: { fieldManager: FIELD_MANAGER },
  })
}
