import { describe, expect, test } from 'vitest'
import { FIVE_MINUTES_AGO, rowOf } from './print.ts'

type Fields = Record<string, unknown>

interface Containers {
  readonly init?: readonly Fields[]
  readonly main?: readonly Fields[]
}

/** A pod of which each container is described by its status; `sidecar` marks an init container. */
function pod({ init = [], main = [] }: Containers, status: Fields = {}, metadata: Fields = {}) {
  const named = (prefix: string) => (_: Fields, i: number) => ({ name: `${prefix}${i}` })
  return {
    metadata: { name: 'p', ...metadata },
    spec: {
      initContainers: init.map(({ sidecar }, i) => ({
        name: `i${i}`,
        ...(sidecar === true && { restartPolicy: 'Always' }),
      })),
      containers: main.map(named('c')),
    },
    status: {
      phase: 'Running',
      initContainerStatuses: init.map((container, i) => ({ name: `i${i}`, ...container })),
      containerStatuses: main.map((container, i) => ({ name: `c${i}`, ...container })),
      ...status,
    },
  }
}

const up = { ready: true, started: true, state: { running: {} } }
const starting = { ready: false, state: { waiting: { reason: 'PodInitializing' } } }
const done = { ready: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } }
const failed = { ready: false, state: { terminated: { exitCode: 1, reason: 'Error' } } }
const killed = { ready: false, state: { terminated: { exitCode: 137, signal: 9 } } }
const exited = { ready: false, state: { terminated: { exitCode: 3 } } }
const waiting = (reason: string) => ({ ready: false, state: { waiting: { reason } } })
const isTrue = (type: string) => ({ type, status: 'True' })
const deleted = { deletionTimestamp: FIVE_MINUTES_AGO }

function restarted(times: number, finishedAt?: string): Fields {
  return { ...up, restartCount: times, lastState: { terminated: { exitCode: 1, finishedAt } } }
}

describe('READY and STATUS', () => {
  test.each<[string, Fields, string]>([
    ['all is well', pod({ main: [up, up] }), '2/2 Running'],
    ['no status yet', { spec: { containers: [{}] } }, '0/1 '],
    [
      'an image that cannot be pulled',
      pod({ main: [waiting('ErrImagePull')] }),
      '0/1 ErrImagePull',
    ],
    ['waiting without a reason', pod({ main: [{ state: { waiting: {} } }] }), '0/1 Running'],
    [
      'the first container with a reason decides',
      pod({ main: [failed, waiting('X')] }),
      '0/2 Error',
    ],
    ['killed by a signal, no reason', pod({ main: [killed] }), '0/1 Signal:9'],
    ['ended with a code, no reason', pod({ main: [exited] }), '0/1 ExitCode:3'],
    [
      'one done, one runs, pod ready',
      pod({ main: [done, up] }, { conditions: [isTrue('Ready')] }),
      '1/2 Running',
    ],
    [
      'one done, one runs, pod said to be ready once',
      pod(
        { main: [done, up] },
        { conditions: [{ type: 'Ready', status: 'False' }, isTrue('Ready')] },
      ),
      '1/2 Running',
    ],
    ['one done, one runs, pod not ready', pod({ main: [done, up] }), '1/2 NotReady'],
    ['one done, one failed', pod({ main: [done, failed] }), '0/2 Error'],
    ['one done, one failed, one runs', pod({ main: [done, failed, up] }), '1/3 Error'],
    [
      'one done, one failed, pod ready',
      pod({ main: [done, failed, up] }, { conditions: [isTrue('Ready')] }),
      '1/3 Running',
    ],
    ['all done', pod({ main: [done, done] }, { phase: 'Succeeded' }), '0/2 Completed'],
    ['evicted', pod({ main: [] }, { phase: 'Failed', reason: 'Evicted' }), '0/0 Evicted'],
    [
      'held back by a scheduling gate',
      pod(
        {},
        { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] },
      ),
      '0/0 SchedulingGated',
    ],
    ['first init container runs', pod({ init: [up, starting], main: [starting] }), '0/1 Init:0/2'],
    [
      'second init container waits',
      pod({ init: [done, starting], main: [starting] }),
      '0/1 Init:1/2',
    ],
    [
      'init container waits for its image',
      pod({ init: [waiting('ImagePullBackOff')], main: [starting] }),
      '0/1 Init:ImagePullBackOff',
    ],
    ['init container failed', pod({ init: [failed], main: [starting] }), '0/1 Init:Error'],
    ['init container killed', pod({ init: [killed], main: [starting] }), '0/1 Init:Signal:9'],
    [
      'init container ended with a code',
      pod({ init: [exited], main: [starting] }),
      '0/1 Init:ExitCode:3',
    ],
    ['init containers done', pod({ init: [done, done], main: [up] }), '1/1 Running'],
    [
      'initialised before, init container runs again',
      pod({ init: [up], main: [up] }, { conditions: [isTrue('Initialized')] }),
      '1/1 Init:0/1',
    ],
    [
      'only the first condition of a type counts',
      pod(
        { init: [up], main: [up] },
        { conditions: [{ type: 'Initialized', status: 'False' }, isTrue('Initialized')] },
      ),
      '0/1 Init:0/1',
    ],
    ['sidecar counts', pod({ init: [{ ...up, sidecar: true }], main: [up] }), '2/2 Running'],
    [
      'sidecar started, not ready',
      pod({ init: [{ ...up, ready: false, sidecar: true }], main: [up] }),
      '1/2 Running',
    ],
    [
      'sidecar not started',
      pod({ init: [{ ...up, started: false, sidecar: true }], main: [starting] }),
      '0/2 Init:0/1',
    ],
    [
      'sidecar, then an init container',
      pod({ init: [{ ...up, sidecar: true }, starting], main: [starting] }),
      '1/2 Init:1/2',
    ],
    ['being deleted', pod({ main: [up] }, {}, deleted), '1/1 Terminating'],
    [
      'being deleted, done before',
      pod({ main: [done] }, { phase: 'Succeeded' }, deleted),
      '0/1 Completed',
    ],
    [
      'being deleted, failed before',
      pod({ main: [failed] }, { phase: 'Failed' }, deleted),
      '0/1 Error',
    ],
    [
      'being deleted, node lost',
      pod({ main: [up] }, { reason: 'NodeLost' }, deleted),
      '1/1 Unknown',
    ],
    ['node lost', pod({}, { reason: 'NodeLost' }), '0/0 NodeLost'],
  ])('%s', (_, object, readyAndStatus) => {
    const { Ready, Status } = rowOf('pods', object)
    expect(`${Ready} ${Status}`).toBe(readyAndStatus)
  })
})

describe('RESTARTS', () => {
  test.each<[string, Containers, string]>([
    ['none', { main: [up] }, '0'],
    ['once', { main: [restarted(1, FIVE_MINUTES_AGO)] }, '1 (5m ago)'],
    ['at an unknown time', { main: [restarted(2)] }, '2'],
    [
      'several containers, the last time counts',
      { main: [restarted(1, FIVE_MINUTES_AGO), restarted(2, '2026-01-01T00:00:00Z')] },
      '3 (5m ago)',
    ],
    [
      'init containers that have run do not count',
      { init: [{ ...done, restartCount: 4 }], main: [up] },
      '0',
    ],
    [
      'init containers count while they run',
      { init: [{ ...restarted(4, FIVE_MINUTES_AGO), ready: false }], main: [starting] },
      '4 (5m ago)',
    ],
    [
      'sidecars count',
      { init: [{ ...restarted(2, FIVE_MINUTES_AGO), sidecar: true }], main: [restarted(1)] },
      '3 (5m ago)',
    ],
  ])('%s', (_, containers, text) => {
    expect(rowOf('pods', pod(containers)).Restarts).toBe(text)
  })
})

describe('IP', () => {
  test.each<[string, Fields, string]>([
    ['none', {}, '<none>'],
    ['one', { podIP: '10.0.0.1' }, '10.0.0.1'],
    ['list alone', { podIPs: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }] }, 'fd00::1'],
    ['both', { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }, '10.0.0.1'],
  ])('%s', (_, status, ip) => {
    expect(rowOf('pods', pod({}, status)).IP).toBe(ip)
  })
})

test('readiness gates: only true ones count, and only the first condition of a type', () => {
  const object = {
    spec: {
      readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }, { conditionType: 'c' }],
    },
    status: { conditions: [isTrue('a'), { type: 'b', status: 'False' }, isTrue('b')] },
  }
  expect(rowOf('pods', object)['Readiness Gates']).toBe('1/3')
})
