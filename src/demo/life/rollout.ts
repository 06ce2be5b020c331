/**
 * A rollout passes: every minute `checkout` gets a new image, one pod at a time.
 *
 * A new pod comes, becomes ready three seconds later, and an old one goes; deployment, replica
 * sets, pods and events always tell the same story.
 */
import type { Happening } from '../event.ts'
import { drawn, HOUR_SECONDS, MINUTE_SECONDS, type Placed, type Setting } from '../placed.ts'
import { type App, deployment, type Pod, pod, replicaSet } from '../workload.ts'
import { eventsUntil, type Life, momentAt } from './cycle.ts'

const REPLICAS = 3
/** Seconds into the minute: when it starts, how far pods are apart, how long one takes. */
const STARTS = 5
const APART = 6
const TAKES = 3
const FIRST_CREATED = -2 * HOUR_SECONDS

const APP = { namespace: 'a-team', name: 'checkout', replicas: REPLICAS, createdAt: -40 * 86_400 }

/** How far the rollout from one revision to the next is. */
interface Progress {
  readonly created: number
  readonly ready: number
}

export const rollout: Life = (setting, now) => {
  const moment = momentAt(now)
  const progress = progressAt(moment.second)
  const from = moment.cycle
  const rolling = progress.created > 0
  const done = progress.ready === REPLICAS
  const newest = rolling ? from + 1 : from
  const old = REPLICAS - progress.ready
  const total = (rolling ? progress.created : 0) + (rolling ? old : REPLICAS)
  const sets: Placed[] = []
  if (rolling) {
    const { created, ready } = progress
    sets.push(revisionSet(setting, from + 1, { replicas: created, ready }))
    sets.push(revisionSet(setting, from, { replicas: old, ready: old }))
  } else {
    sets.push(revisionSet(setting, from, { replicas: REPLICAS, ready: REPLICAS }))
  }
  // The history limit is 1: one empty replica set stays behind, another only while rolling.
  if (from > 0 && !done) sets.push(revisionSet(setting, from - 1, { replicas: 0, ready: 0 }))
  return [
    deployment(setting, appOf(newest), {
      revision: newest + 1,
      generation: newest + 1,
      total,
      updated: rolling ? progress.created : REPLICAS,
      ready: REPLICAS,
      changedAt: lastChange(moment.cycle, moment.second),
    }),
    ...sets,
    ...(rolling ? podsOf(setting, from + 1, { now, from: 0, to: progress.created }) : []),
    ...podsOf(setting, from, { now, from: rolling ? progress.ready : 0, to: REPLICAS }),
    ...eventsUntil(setting, moment, (cycle) => happenings(setting, cycle)),
  ]
}

function progressAt(second: number): Progress {
  const count = (first: number) =>
    Math.min(REPLICAS, Math.max(0, Math.floor((second - first) / APART) + 1))
  return { created: count(STARTS), ready: count(STARTS + TAKES) }
}

function lastChange(cycle: number, second: number): number {
  const { created, ready } = progressAt(second)
  if (created === 0) return cycle === 0 ? FIRST_CREATED : lastChange(cycle - 1, MINUTE_SECONDS - 1)
  const at = Math.max(
    STARTS + (created - 1) * APART,
    ready > 0 ? STARTS + TAKES + (ready - 1) * APART : 0,
  )
  return cycle * MINUTE_SECONDS + at
}

function appOf(revision: number): App {
  return { ...APP, image: `registry.example.com:5000/a-team/checkout:2.7.${revision}` }
}

function hashOf(setting: Setting, revision: number): string {
  return drawn(setting, `checkout template ${revision}`, 10)
}

function createdAt(revision: number, index: number): number {
  if (revision === 0) return FIRST_CREATED
  return (revision - 1) * MINUTE_SECONDS + STARTS + index * APART
}

function revisionSet(
  setting: Setting,
  revision: number,
  counts: { replicas: number; ready: number },
): Placed {
  return replicaSet(setting, {
    app: appOf(revision),
    hash: hashOf(setting, revision),
    revision: revision + 1,
    createdAt: createdAt(revision, 0),
    ...counts,
  })
}

function podName(setting: Setting, revision: number, index: number): string {
  const ending = drawn(setting, `checkout pod ${revision} ${index}`, 5)
  return `checkout-${hashOf(setting, revision)}-${ending}`
}

/** Pods `from` to `to` (not included) of a revision. */
function podsOf(
  setting: Setting,
  revision: number,
  range: { now: number; from: number; to: number },
): Placed[] {
  const app = appOf(revision)
  const hash = hashOf(setting, revision)
  return Array.from({ length: range.to - range.from }, (_, offset) => {
    const index = range.from + offset
    const created = createdAt(revision, index)
    const readyAt = created + TAKES
    const up = range.now >= readyAt
    const state: Pod['state'] = up
      ? { is: 'running', since: readyAt, ready: true }
      : { is: 'waiting', reason: 'ContainerCreating' }
    return pod(setting, {
      app,
      name: podName(setting, revision, index),
      owner: { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: `checkout-${hash}` },
      labels: { app: app.name, 'pod-template-hash': hash },
      createdAt: created,
      node: `${setting.cluster}-node-${'bca'[index % 3]}`,
      address: `10.2.${(revision % 200) + 1}.${index + 10}`,
      phase: up ? 'Running' : 'Pending',
      state,
      readySince: up ? readyAt : created,
    })
  })
}

function happenings(setting: Setting, cycle: number): Happening[] {
  const base = cycle * MINUTE_SECONDS
  const [from, to] = [hashOf(setting, cycle), hashOf(setting, cycle + 1)]
  const scaled = (at: number, what: string): Happening => ({
    at: base + at,
    about: { kind: 'Deployment', apiVersion: 'apps/v1', namespace: 'a-team', name: 'checkout' },
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: what,
    component: 'deployment-controller',
  })
  return Array.from({ length: REPLICAS }, (_, index) => {
    const up = STARTS + index * APART
    const name = podName(setting, cycle + 1, index)
    const started: Happening = {
      at: base + up + TAKES,
      about: { kind: 'Pod', apiVersion: 'v1', namespace: 'a-team', name },
      type: 'Normal',
      reason: 'Started',
      message: 'Started container checkout',
      component: 'kubelet',
    }
    const left = REPLICAS - index - 1
    return [
      scaled(up, `Scaled up replica set checkout-${to} from ${index} to ${index + 1}`),
      started,
      scaled(up + TAKES, `Scaled down replica set checkout-${from} from ${left + 1} to ${left}`),
    ]
  }).flat()
}
