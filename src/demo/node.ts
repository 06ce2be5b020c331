/** Nodes of a simulated cluster, healthy or not. */
import type { KubeObject } from '../kube/kube-object.ts'
import { DAY_SECONDS, type Placed, type Setting, TYPES, timeAt, uidOf } from './placed.ts'

export interface NodeState {
  /** `a` is the control plane. */
  readonly letter: string
  readonly ready: 'True' | 'False' | 'Unknown'
  /** Seconds after the start since when; left out, since the node was made. */
  readonly since?: number
  readonly createdDaysAgo?: number
}

const CONDITION = {
  True: { reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  False: { reason: 'KubeletNotReady', message: 'container runtime network not ready' },
  Unknown: { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
} as const

const TAINT = { False: 'not-ready', Unknown: 'unreachable' } as const

export function node(setting: Setting, of: NodeState): Placed {
  const name = `${setting.cluster}-node-${of.letter}`
  const created = -(of.createdDaysAgo ?? 60) * DAY_SECONDS
  const since = timeAt(setting, of.since ?? created)
  const index = of.letter.charCodeAt(0) - 'a'.charCodeAt(0)
  const role = of.letter === 'a' ? 'control-plane' : 'worker'
  const key = of.ready === 'True' ? undefined : `node.kubernetes.io/${TAINT[of.ready]}`
  const object: KubeObject = {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      uid: uidOf(setting, 'Node', name),
      creationTimestamp: timeAt(setting, created),
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        [`node-role.kubernetes.io/${role}`]: '',
      },
    },
    spec: {
      podCIDR: `10.${index}.0.0/16`,
      podCIDRs: [`10.${index}.0.0/16`],
      ...(key && { taints: [{ key, effect: 'NoSchedule', timeAdded: since }] }),
    },
    status: nodeStatus(setting, of, { name, since, index }),
  }
  return { of: TYPES.nodes, object }
}

function nodeStatus(
  setting: Setting,
  of: NodeState,
  { name, since, index }: { name: string; since: string; index: number },
) {
  const condition = (type: string, status: string, told: object) => ({
    type,
    status,
    lastHeartbeatTime: since,
    lastTransitionTime: since,
    ...told,
  })
  const enough = { reason: 'KubeletHasSufficientMemory' }
  return {
    capacity: { cpu: '8', memory: '32Gi', pods: '110' },
    allocatable: { cpu: '7800m', memory: '30Gi', pods: '110' },
    conditions: [
      condition('MemoryPressure', of.ready === 'Unknown' ? 'Unknown' : 'False', enough),
      condition('Ready', of.ready, CONDITION[of.ready]),
    ],
    addresses: [
      { type: 'InternalIP', address: `192.0.2.${10 + index}` },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: uidOf(setting, 'machine', name).replaceAll('-', ''),
      systemUUID: uidOf(setting, 'system', name),
      bootID: uidOf(setting, 'boot', name),
      kernelVersion: '6.1.0-28-amd64',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      containerRuntimeVersion: 'containerd://1.7.24',
      kubeletVersion: setting.version,
      kubeProxyVersion: setting.version,
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  }
}
