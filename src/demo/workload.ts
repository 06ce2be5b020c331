/** Deployments, replica sets and pods that agree with each other, in any state of theirs. */
import type { KubeObject } from '../kube/kube-object.ts'
import { type Placed, type Setting, TYPES, timeAt, uidOf } from './placed.ts'

export interface App {
  readonly namespace: string
  readonly name: string
  readonly image: string
  readonly replicas: number
  /** Seconds after the start; negative for what was there before. */
  readonly createdAt: number
}

export interface DeploymentState {
  readonly revision: number
  readonly generation: number
  /** All pods, those of the newest template, and those that are ready. */
  readonly total: number
  readonly updated: number
  readonly ready: number
  /** When the counts last changed. */
  readonly changedAt: number
}

function container(app: Pick<App, 'name' | 'image'>) {
  return {
    name: app.name,
    image: app.image,
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  }
}

function podSpec(app: Pick<App, 'name' | 'image'>) {
  return {
    containers: [container(app)],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  }
}

const labelsOf = (app: Pick<App, 'name'>) => ({ app: app.name })

export function deployment(setting: Setting, app: App, state: DeploymentState): Placed {
  const object: KubeObject = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      name: app.name,
      namespace: app.namespace,
      uid: uidOf(setting, 'Deployment', `${app.namespace}/${app.name}`),
      generation: state.generation,
      creationTimestamp: timeAt(setting, app.createdAt),
      labels: labelsOf(app),
      annotations: { 'deployment.kubernetes.io/revision': String(state.revision) },
    },
    spec: {
      replicas: app.replicas,
      selector: { matchLabels: labelsOf(app) },
      template: { metadata: { labels: labelsOf(app) }, spec: podSpec(app) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      revisionHistoryLimit: 1,
      progressDeadlineSeconds: 600,
    },
    status: deploymentStatus(setting, app, state),
  }
  return { of: TYPES.deployments, object }
}

function deploymentStatus(setting: Setting, app: App, state: DeploymentState) {
  const { total, updated, ready } = state
  const unavailable = Math.max(0, total - ready)
  const enough = ready >= app.replicas
  const [created, changed] = [timeAt(setting, app.createdAt), timeAt(setting, state.changedAt)]
  return {
    observedGeneration: state.generation,
    replicas: total,
    updatedReplicas: updated,
    readyReplicas: ready,
    availableReplicas: ready,
    ...(unavailable > 0 && { unavailableReplicas: unavailable }),
    conditions: [
      {
        type: 'Available',
        status: enough ? 'True' : 'False',
        lastUpdateTime: changed,
        lastTransitionTime: enough ? created : changed,
        reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
        message: `Deployment ${enough ? 'has' : 'does not have'} minimum availability.`,
      },
      {
        type: 'Progressing',
        status: 'True',
        lastUpdateTime: changed,
        lastTransitionTime: created,
        reason: updated === app.replicas ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
        message: `Deployment ${app.name} is progressing or has progressed.`,
      },
    ],
  }
}

export interface ReplicaSet {
  readonly app: App
  /** The end of its name, and its pods' `pod-template-hash`. */
  readonly hash: string
  readonly revision: number
  readonly createdAt: number
  readonly replicas: number
  readonly ready: number
}

export function replicaSet(setting: Setting, of: ReplicaSet): Placed {
  const { app, hash } = of
  const labels = { ...labelsOf(app), 'pod-template-hash': hash }
  const object: KubeObject = {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${app.name}-${hash}`,
      namespace: app.namespace,
      uid: uidOf(setting, 'ReplicaSet', `${app.namespace}/${app.name}-${hash}`),
      generation: 1,
      creationTimestamp: timeAt(setting, of.createdAt),
      labels,
      annotations: {
        'deployment.kubernetes.io/desired-replicas': String(app.replicas),
        'deployment.kubernetes.io/max-replicas': String(app.replicas + 1),
        'deployment.kubernetes.io/revision': String(of.revision),
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: app.name,
          uid: uidOf(setting, 'Deployment', `${app.namespace}/${app.name}`),
          controller: true,
        },
      ],
    },
    spec: {
      replicas: of.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(app) },
    },
    status: {
      replicas: of.replicas,
      ...(of.replicas > 0 && { fullyLabeledReplicas: of.replicas }),
      ...(of.ready > 0 && { readyReplicas: of.ready, availableReplicas: of.ready }),
      observedGeneration: 1,
    },
  }
  return { of: TYPES.replicaSets, object }
}

/** What the one container of a pod is doing. Times are seconds after the start. */
export type ContainerState =
  | { readonly is: 'running'; readonly since: number; readonly ready: boolean }
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly is: 'terminated'; readonly exitCode: number; readonly at: number }

export interface Pod {
  readonly app: Pick<App, 'namespace' | 'name' | 'image'>
  readonly name: string
  readonly owner: { readonly kind: string; readonly apiVersion: string; readonly name: string }
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly node: string
  readonly address: string
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  readonly state: ContainerState
  readonly restarts?: number
  /** When the run before this one ended, if there was one. */
  readonly lastEndAt?: number
  readonly readySince?: number
}

export function pod(setting: Setting, of: Pod): Placed {
  const { app, owner } = of
  const created = timeAt(setting, of.createdAt)
  const object: KubeObject = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: of.name,
      generateName: of.name.slice(0, -5),
      namespace: app.namespace,
      uid: uidOf(setting, 'Pod', `${app.namespace}/${of.name}`),
      creationTimestamp: created,
      labels: of.labels,
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: owner.kind,
          name: owner.name,
          uid: uidOf(setting, owner.kind, `${app.namespace}/${owner.name}`),
          controller: true,
        },
      ],
    },
    spec: {
      ...podSpec(app),
      ...(owner.kind === 'Job' && { restartPolicy: 'Never' }),
      serviceAccountName: 'default',
      serviceAccount: 'default',
      nodeName: of.node,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: podStatus(setting, of),
  }
  return { of: TYPES.pods, object }
}

function podStatus(setting: Setting, of: Pod) {
  const created = timeAt(setting, of.createdAt)
  const ready = of.state.is === 'running' && of.state.ready
  const readySince = timeAt(setting, of.readySince ?? of.createdAt)
  const condition = (type: string, is: boolean, since: string) => ({
    type,
    status: is ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: since,
  })
  return {
    phase: of.phase,
    conditions: [
      condition('Initialized', true, created),
      condition('Ready', ready, readySince),
      condition('ContainersReady', ready, readySince),
      condition('PodScheduled', true, created),
    ],
    hostIP: '192.0.2.10',
    ...(of.phase !== 'Pending' && { podIP: of.address, podIPs: [{ ip: of.address }] }),
    startTime: created,
    containerStatuses: [
      {
        name: of.app.name,
        state: containerState(setting, of.state, of.createdAt),
        lastState:
          of.lastEndAt === undefined
            ? {}
            : containerState(
                setting,
                { is: 'terminated', exitCode: 1, at: of.lastEndAt },
                of.createdAt,
              ),
        ready,
        restartCount: of.restarts ?? 0,
        image: of.app.image,
        imageID: '',
        started: of.state.is === 'running',
      },
    ],
    qosClass: 'Burstable',
  }
}

function containerState(setting: Setting, state: ContainerState, createdAt: number) {
  switch (state.is) {
    case 'running':
      return { running: { startedAt: timeAt(setting, state.since) } }
    case 'waiting':
      return {
        waiting: { reason: state.reason, ...(state.message && { message: state.message }) },
      }
    case 'terminated':
      return {
        terminated: {
          exitCode: state.exitCode,
          reason: state.exitCode === 0 ? 'Completed' : 'Error',
          startedAt: timeAt(setting, Math.max(createdAt, state.at - 3)),
          finishedAt: timeAt(setting, state.at),
        },
      }
    default:
      return state satisfies never
  }
}
