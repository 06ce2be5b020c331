/** A pod crash-loops and recovers: `payments` dies twice in a minute, backs off, and comes back. */
import type { Happening } from '../event.ts'
import { DAY_SECONDS, drawn, HOUR_SECONDS, MINUTE_SECONDS, type Setting } from '../placed.ts'
import { deployment, type Pod, pod, replicaSet } from '../workload.ts'
import { eventsUntil, type Life, momentAt } from './cycle.ts'

const APP = {
  namespace: 'a-team',
  name: 'payments',
  image: 'registry.example.com:5000/a-team/payments:0.9.3',
  replicas: 1,
  createdAt: -9 * DAY_SECONDS,
}
const POD_CREATED = -5 * HOUR_SECONDS
const RESTARTS_PER_CYCLE = 3

type Step = 'well' | 'died' | 'retries' | 'backs off' | 'is back'

/** From which second of the minute on, how it is doing, and how often it restarted this minute. */
const STEPS: ReadonlyArray<{ from: number; step: Step; restarts: number }> = [
  { from: 0, step: 'well', restarts: 0 },
  { from: 10, step: 'died', restarts: 0 },
  { from: 12, step: 'retries', restarts: 1 },
  { from: 15, step: 'backs off', restarts: 1 },
  { from: 18, step: 'retries', restarts: 2 },
  { from: 21, step: 'backs off', restarts: 2 },
  { from: 40, step: 'is back', restarts: 3 },
]
/** When a run ended, by how many restarts followed it in this minute. */
const ENDED = [0, 10, 15, 21]

export const crashLoop: Life = (setting, now) => {
  const moment = momentAt(now)
  const { from, step, restarts } = STEPS.findLast((candidate) => candidate.from <= moment.second)!
  const ready = step === 'well' || step === 'is back'
  const base = moment.cycle * MINUTE_SECONDS
  const since = step === 'well' ? readySince(moment.cycle) : base + from
  const hash = drawn(setting, 'payments template', 10)
  const readyCount = ready ? 1 : 0
  return [
    deployment(setting, APP, {
      revision: 4,
      generation: 4,
      total: 1,
      updated: 1,
      ready: readyCount,
      changedAt: since,
    }),
    replicaSet(setting, {
      app: APP,
      hash,
      revision: 4,
      createdAt: POD_CREATED,
      replicas: 1,
      ready: readyCount,
    }),
    pod(setting, {
      app: APP,
      name: podName(setting),
      owner: { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: `payments-${hash}` },
      labels: { app: APP.name, 'pod-template-hash': hash },
      createdAt: POD_CREATED,
      node: `${setting.cluster}-node-b`,
      address: '10.3.0.17',
      phase: 'Running',
      state: stateOf(step, base + from, since),
      restarts: moment.cycle * RESTARTS_PER_CYCLE + restarts,
      ...lastEnd(moment.cycle, step, restarts),
      readySince: since,
    }),
    ...eventsUntil(setting, moment, (cycle) => happenings(setting, cycle)),
  ]
}

function podName(setting: Setting): string {
  return `payments-${drawn(setting, 'payments template', 10)}-${drawn(setting, 'payments pod', 5)}`
}

/** Well since it came back in the minute before. */
function readySince(cycle: number): number {
  return cycle === 0 ? POD_CREATED : (cycle - 1) * MINUTE_SECONDS + 40
}

function lastEnd(cycle: number, step: Step, restarts: number): { lastEndAt?: number } {
  // While it backs off, the run that just ended is the last one.
  const ended = step === 'backs off' ? restarts + 1 : restarts
  if (ended > 0) return { lastEndAt: cycle * MINUTE_SECONDS + ENDED[ended]! }
  return cycle === 0 ? {} : { lastEndAt: (cycle - 1) * MINUTE_SECONDS + ENDED[3]! }
}

function stateOf(step: Step, at: number, since: number): Pod['state'] {
  switch (step) {
    case 'well':
    case 'is back':
      return { is: 'running', since, ready: true }
    case 'retries':
      return { is: 'running', since: at, ready: false }
    case 'died':
      return { is: 'terminated', exitCode: 1, at }
    case 'backs off': {
      const message = `back-off 20s restarting failed container=payments`
      return { is: 'waiting', reason: 'CrashLoopBackOff', message }
    }
    default:
      return step satisfies never
  }
}

function happenings(setting: Setting, cycle: number): Happening[] {
  const told = (at: number, type: Happening['type'], reason: string): Happening => ({
    at: cycle * MINUTE_SECONDS + at,
    about: { kind: 'Pod', apiVersion: 'v1', namespace: 'a-team', name: podName(setting) },
    type,
    reason,
    message:
      reason === 'BackOff'
        ? 'Back-off restarting failed container payments'
        : 'Started container payments',
    component: 'kubelet',
  })
  return [
    told(12, 'Normal', 'Started'),
    told(15, 'Warning', 'BackOff'),
    told(18, 'Normal', 'Started'),
    told(21, 'Warning', 'BackOff'),
    told(40, 'Normal', 'Started'),
  ]
}
