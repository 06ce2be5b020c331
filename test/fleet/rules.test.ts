/** The numbered tests of the sweep's rules: objects of one cluster → the issues that are found. */
import { describe, expect, test } from 'vitest'
import type { Fields } from '../../src/printers/read-field.ts'
import {
  ago,
  CRASHING,
  deployment,
  event,
  issuesIn,
  type Lists,
  meta,
  NOT_READY,
  ownedBy,
  PROGRESS_DEADLINE,
  pod,
  READY,
  REPLICA_FAILURE,
  readyPod,
  rowFor,
  running,
  shortRow,
  waiting,
  web,
  webPod,
} from './cluster.ts'

type Case = readonly [situation: string, lists: Lists, issues: readonly string[]]

const ONE_SHORT = { replicas: 1, ready: 0 }
const exit = (exitCode: number, reason: string) => ({ terminated: { exitCode, reason } })
const restarted = (startedAt: string, restartCount: number, lastState: Fields): Lists =>
  web({ replicas: 1, ready: 1 }, [
    webPod('a', {
      conditions: [READY],
      containerStatuses: [
        running({ ready: true, restartCount, state: { running: { startedAt } }, lastState }),
      ],
    }),
  ])
const failedJob = { status: { conditions: [{ type: 'Failed', status: 'True' }] } }
const completeJob = { status: { conditions: [{ type: 'Complete', status: 'True' }] } }
const jobOf = (cronJob: string, name: string, age: number) => ({
  metadata: { ...meta(name, ownedBy('CronJob', cronJob)), creationTimestamp: ago(age) },
})
const creating = { containerStatuses: [waiting('ContainerCreating')], conditions: [NOT_READY] }
const volumeEvents = (name: string) => [
  event('FailedMount', ['Pod', name]),
  event('FailedAttachVolume', ['Pod', name]),
]
const unschedulable = (reason: string) => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason }],
})

const PODS: readonly Case[] = [
  ['F1 no objects at all', {}, []],
  ['F2 a crash loop: neither Degraded nor RolloutStuck beside it', CRASHING, ['CrashLoopBackOff']],
  [
    'F3 a crash loop of a container that was killed for its memory',
    web(ONE_SHORT, [
      webPod('a', {
        containerStatuses: [
          waiting('CrashLoopBackOff', { restartCount: 9, lastState: exit(137, 'OOMKilled') }),
        ],
      }),
    ]),
    ['CrashLoopBackOff', 'OOMKilled'],
  ],
  [
    'F4 one pod with two containers without images, another with one',
    web({ replicas: 2, ready: 0 }, [
      webPod('a', {
        containerStatuses: [waiting('ImagePullBackOff'), waiting('ImagePullBackOff')],
      }),
      webPod('b', { containerStatuses: [waiting('ErrImagePull')] }),
    ]),
    ['ErrImagePull', 'ImagePullBackOff'],
  ],
  ['F9 restarted ten minutes ago', restarted(ago(600), 3, exit(1, 'Error')), ['RestartLoop']],
  ['F9 restarted a second earlier', restarted(ago(601), 3, exit(1, 'Error')), []],
  ['F9 restarted twice only', restarted(ago(300), 2, exit(1, 'Error')), []],
  ['F9 restarted after success', restarted(ago(300), 3, exit(0, 'Completed')), []],
  ['F9 restarted for its memory', restarted(ago(300), 3, exit(137, 'OOMKilled')), ['OOMKilled']],
  [
    'F11 a bare pod that no node takes',
    { pods: [pod('a', { status: unschedulable('Unschedulable') })] },
    ['Unschedulable'],
  ],
  [
    'F11 a bare pod behind a scheduling gate',
    { pods: [pod('a', { status: unschedulable('SchedulingGated') })] },
    ['Degraded'],
  ],
  [
    'F12 an evicted bare pod',
    { pods: [pod('a', { status: { phase: 'Failed', reason: 'Evicted' } })] },
    ['Failed'],
  ],
  ['F12 a bare pod that is done', { pods: [pod('a', { status: { phase: 'Succeeded' } })] }, []],
  [
    'F12 a bare pod killed for its memory',
    {
      pods: [
        pod('a', {
          status: {
            phase: 'Failed',
            containerStatuses: [{ name: 'app', state: exit(137, 'OOMKilled') }],
          },
        }),
      ],
    },
    ['OOMKilled'],
  ],
  [
    'F14 volumes that cannot be attached and mounted',
    { ...web(ONE_SHORT, [webPod('a', creating)]), events: volumeEvents('a') },
    ['VolumeAttachError', 'VolumeMountError'],
  ],
  [
    'F14 the container runs already',
    {
      ...web(ONE_SHORT, [webPod('a', { ...creating, containerStatuses: [running()] })]),
      events: volumeEvents('a'),
    },
    ['Degraded'],
  ],
  [
    'F14 the events are of another pod',
    { ...web(ONE_SHORT, [webPod('a', creating)]), events: volumeEvents('b') },
    ['Degraded'],
  ],
]

const container = (name: string, status: Fields): Lists => ({
  pods: [pod(name, { status: { conditions: [READY], containerStatuses: [status] } })],
})
const init = (...initContainerStatuses: Fields[]): Lists => ({
  pods: [pod('a', { status: { phase: 'Pending', initContainerStatuses } })],
})
const young = { creationTimestamp: ago(59) }

const MORE_PODS: readonly Case[] = [
  [
    'a missing ConfigMap',
    container('a', waiting('CreateContainerConfigError')),
    ['CreateContainerConfigError'],
  ],
  [
    'a start that fails for a minute',
    container('a', waiting('RunContainerError')),
    ['ContainerStartError'],
  ],
  [
    'a start that fails for less',
    {
      pods: [pod('a', { metadata: young, status: { containerStatuses: [waiting('StartError')] } })],
    },
    ['Degraded'],
  ],
  [
    'a start that fails again',
    {
      pods: [
        pod('a', {
          metadata: young,
          status: { containerStatuses: [waiting('PostStartHookError', { restartCount: 1 })] },
        }),
      ],
    },
    ['ContainerStartError'],
  ],
  ['a reason in other letters', container('a', waiting('crashloopbackoff')), ['Degraded']],
  ['an image name that is wrong', container('a', waiting('InvalidImageName')), ['Degraded']],
  ['an init image that is not there', init(waiting('ErrImagePull')), ['Init:ErrImagePull']],
  [
    'an init image that is waited for',
    init(waiting('ImagePullBackOff')),
    ['Init:ImagePullBackOff'],
  ],
  [
    'an init container killed for its memory before it looped',
    init(waiting('CrashLoopBackOff', { lastState: exit(137, 'OOMKilled') })),
    ['Init:OOMKilled'],
  ],
  ['an init container that loops', init(waiting('CrashLoopBackOff')), ['Init:CrashLoopBackOff']],
  [
    'an init container between two attempts',
    init({ name: 'i', restartCount: 1, state: exit(1, 'Error') }),
    ['Init:CrashLoopBackOff'],
  ],
  [
    'an init container in its first failure',
    init({ name: 'i', restartCount: 0, state: exit(1, 'Error') }),
    ['Degraded'],
  ],
  [
    'an init container that failed before and is done',
    init({ name: 'i', restartCount: 1, state: exit(0, 'Completed'), lastState: exit(1, 'Error') }),
    ['Degraded'],
  ],
  [
    'two init containers, the first wins',
    init(waiting('CreateContainerConfigError'), waiting('ErrImagePull')),
    ['Init:CreateContainerConfigError'],
  ],
]

const probed = (events: Fields[]): Lists => ({
  ...web(ONE_SHORT, [
    webPod('a', {
      conditions: [NOT_READY],
      containerStatuses: [running(), waiting('x', { name: 'b' })],
    }),
  ]),
  events,
})
const unhealthy = (message: string, age: number, fieldPath = 'spec.containers{app}') =>
  event('Unhealthy', ['Pod', 'a'], {
    message,
    lastTimestamp: ago(age),
    involvedObject: { kind: 'Pod', name: 'a', namespace: 'default', fieldPath },
  })

const PROBES: readonly Case[] = [
  ['a probe that fails', probed([unhealthy('Readiness probe failed: 503', 30)]), ['ProbeFailure']],
  [
    'the newest event is of no probe, an older one of the same spell is',
    probed([unhealthy('Probe warning', 10), unhealthy('Startup probe failed', 130)]),
    ['ProbeFailure'],
  ],
  [
    'the failure is of an earlier spell',
    probed([unhealthy('Probe warning', 10), unhealthy('Liveness probe failed', 131)]),
    ['Degraded'],
  ],
  [
    'the container does not run',
    probed([unhealthy('Liveness probe failed', 10, 'spec.containers{b}')]),
    ['Degraded'],
  ],
  [
    'no container is named, the pod runs',
    probed([unhealthy('Liveness probe failed', 10, '')]),
    ['ProbeFailure'],
  ],
]

const stuckSet = (status: Fields, age = 600) => ({
  metadata: { ...meta('db'), creationTimestamp: ago(age) },
  spec: { replicas: 2 },
  status: { readyReplicas: 1, currentRevision: 'r1', updateRevision: 'r1', ...status },
})
const dbPod = (age: number) =>
  pod('db-1', {
    metadata: { ...ownedBy('StatefulSet', 'db'), creationTimestamp: ago(age) },
    status: { conditions: [NOT_READY], containerStatuses: [running()] },
  })
const noPods = (lists: Lists): Lists => ({
  ...lists,
  events: [event('FailedCreate', ['ReplicaSet', 'web-1'])],
})

const WORKLOADS: readonly Case[] = [
  [
    'F6 one of three is not ready',
    web({ replicas: 3, ready: 2 }, [readyPod('a', ownedBy('ReplicaSet', 'web-1'))]),
    ['Degraded'],
  ],
  [
    'F7 one of three is not ready, and the deadline is past',
    web({ replicas: 3, ready: 2, conditions: [PROGRESS_DEADLINE] }, [
      readyPod('a', ownedBy('ReplicaSet', 'web-1')),
    ]),
    ['RolloutStuck'],
  ],
  [
    'F13 Jobs and CronJobs',
    {
      jobs: [
        { metadata: meta('j1'), ...failedJob },
        { ...jobOf('k', 'k-1', 200), ...failedJob },
        { ...jobOf('k', 'k-2', 100), ...completeJob },
        { ...jobOf('m', 'm-1', 200), ...completeJob },
        { ...jobOf('m', 'm-2', 100), ...failedJob },
        { metadata: meta('x'), status: { active: 1 } },
      ],
      cronjobs: [{ metadata: meta('k') }, { metadata: meta('m') }],
    },
    ['JobFailed', 'JobFailed'],
  ],
  [
    'a Job of a CronJob that is gone',
    { jobs: [{ ...jobOf('gone', 'g-1', 100), ...failedJob }], cronjobs: [] },
    ['JobFailed'],
  ],
  [
    'F16 pods are refused: their absence is the issue',
    noPods(web({ replicas: 2, ready: 0, conditions: [REPLICA_FAILURE] }, [])),
    ['FailedCreate'],
  ],
  [
    'F16 pods were refused once, and are all there now',
    noPods(
      web({ replicas: 2, ready: 0, conditions: [REPLICA_FAILURE] }, [
        webPod('a', { containerStatuses: [running()] }),
        webPod('b', { containerStatuses: [running()] }),
      ]),
    ),
    ['RolloutStuck'],
  ],
  [
    'a Deployment without replicas wants one',
    { deployments: [deployment('d', { ready: 0 })] },
    ['Degraded'],
  ],
  [
    'a Deployment without a status',
    { deployments: [{ metadata: meta('d'), spec: {} }] },
    ['Degraded'],
  ],
  [
    'a Deployment scaled to zero',
    { deployments: [deployment('d', { replicas: 0, ready: 0 })] },
    [],
  ],
  [
    'a StatefulSet past its grace',
    { statefulsets: [stuckSet({})], pods: [dbPod(600)] },
    ['RolloutStuck'],
  ],
  [
    'a StatefulSet whose pod is young',
    { statefulsets: [stuckSet({})], pods: [dbPod(599)] },
    ['Degraded'],
  ],
  [
    'a StatefulSet that is young',
    { statefulsets: [stuckSet({}, 599)], pods: [dbPod(900)] },
    ['Degraded'],
  ],
  [
    'a StatefulSet whose update is done',
    { statefulsets: [stuckSet({ updateRevision: 'r2', updatedReplicas: 2 })] },
    ['Degraded'],
  ],
  [
    'a DaemonSet past its grace',
    {
      daemonsets: [
        { metadata: meta('agent'), status: { desiredNumberScheduled: 3, numberReady: 2 } },
      ],
    },
    ['RolloutStuck'],
  ],
  [
    'a pod that restarted often explains a rollout',
    web({ replicas: 1, ready: 0, conditions: [PROGRESS_DEADLINE] }, [
      webPod('a', { containerStatuses: [running({ restartCount: 3 })] }),
    ]),
    ['Degraded'],
  ],
  [
    'pods of a custom controller, one still at work',
    {
      pods: [
        pod('a', { metadata: ownedBy('Workflow', 'w'), status: { phase: 'Failed' } }),
        readyPod('b', ownedBy('Workflow', 'w')),
      ],
    },
    ['Degraded'],
  ],
  ['a static pod that is ready', { pods: [readyPod('etcd', ownedBy('Node', 'n1'))] }, []],
  ...['constructor', 'toString', '__proto__', ''].map(
    (kind): Case => [
      `an owner of the kind ${JSON.stringify(kind)}`,
      { pods: [pod('a', { metadata: ownedBy(kind, 'x') })] },
      ['Degraded'],
    ],
  ),
]

describe('pods', () => {
  test.each([...PODS, ...MORE_PODS, ...PROBES])('%s', (_, lists, issues) => {
    expect(issuesIn({ lists })).toEqual(issues)
  })

  test('an OOM kill is forgotten when a limit is set', () => {
    const finishedAt = ago(3600)
    const lastState = { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt } }
    const lists = container('a', running({ ready: true, lastState }))
    expect(issuesIn({ lists })).toEqual(['OOMKilled'])
    expect(issuesIn({ lists }, { oomKilledWithinMilliseconds: 3_599_000 })).toEqual([])
    expect(issuesIn({ lists }, { oomKilledWithinMilliseconds: 3_600_000 })).toEqual(['OOMKilled'])
  })
})

describe('workloads', () => {
  test.each(WORKLOADS)('%s', (_, lists, issues) => {
    expect(issuesIn({ lists })).toEqual(issues)
  })
})

describe('rows', () => {
  test.each([
    ['F1', {}, 'pass 0/0/0 0 []'],
    ['F2', CRASHING, 'fail 1/0/0 0 [CrashLoopBackOff]'],
    ['F3', PODS[2]![1], 'fail 2/0/0 0 [CrashLoopBackOff, OOMKilled]'],
    ['F4', PODS[3]![1], 'fail 2/0/0 0 [ErrImagePull, ImagePullBackOff]'],
    ['F6', WORKLOADS[0]![1], 'pass 0/1/0 0 [Degraded]'],
    ['F7', WORKLOADS[1]![1], 'fail 1/0/0 0 [RolloutStuck]'],
    ['F13', WORKLOADS[2]![1], 'fail 2/0/0 0 [JobFailed]'],
  ] as const)('%s', (_, lists, row) => {
    expect(shortRow(rowFor({ lists }))).toBe(row)
  })

  test.each(['warning', 'info'] as const)('F6 fails on %s', (failOn) => {
    const row = rowFor({ lists: WORKLOADS[0]![1] }, { failOn })
    expect(shortRow(row)).toBe('fail 0/1/0 0 [Degraded]')
  })
})
