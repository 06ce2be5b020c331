/** The objects of the measured fleet: made from numbers, so that every run has the same. */

const APPS = ['checkout', 'catalog', 'mail', 'billing', 'gateway', 'ledger', 'stock', 'login']
const TEAMS = ['payments', 'search', 'infra', 'web', 'data', 'ml']
const PHASES = ['Running', 'Running', 'Running', 'Running', 'Running', 'Running', 'Running']
const ALL_PHASES = [...PHASES, 'Pending', 'Failed', 'Succeeded']
const NAMESPACES = 40
const FIRST_CREATED = Date.UTC(2026, 0, 1)

export interface Sizes {
  readonly clusters: number
  readonly pods: number
  readonly workloads: number
}

/** A well-mixed 32-bit number of two. */
export function mixed(a: number, b = 0): number {
  let x = Math.imul(a ^ 0x5bd1e995, 0x27d4eb2d) ^ Math.imul(b + 0x165667b1, 0x9e3779b1)
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b)
  return (x ^ (x >>> 13)) >>> 0
}

const hex = (seed: number, digits: number) =>
  Array.from({ length: Math.ceil(digits / 8) }, (_, i) =>
    mixed(seed, i + 1)
      .toString(16)
      .padStart(8, '0'),
  )
    .join('')
    .slice(0, digits)

const uidOf = (seed: number) => {
  const h = hex(seed, 32)
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-8${h.slice(17, 20)}-${h.slice(20)}`
}

const time = (seed: number) =>
  new Date(FIRST_CREATED + (mixed(seed) % 20_000_000) * 1000).toISOString().replace('.000Z', 'Z')

const appOf = (workload: number) =>
  `${APPS[mixed(workload) % APPS.length]}-${TEAMS[mixed(workload, 3) % TEAMS.length]}-${workload}`

const replicaSetOf = (cluster: number, workload: number) =>
  `${appOf(workload)}-${hex(cluster * 7_001 + workload, 10)}`

export const namespaceOf = (workload: number) =>
  `team-${String(workload % NAMESPACES).padStart(3, '0')}`

const labelsOf = (workload: number) => ({
  app: appOf(workload),
  team: TEAMS[mixed(workload, 3) % TEAMS.length]!,
  'app.kubernetes.io/version': `1.${mixed(workload) % 9}`,
})

/** What every real object carries, and no mirror keeps. */
const managedFields = ['kube-controller-manager', 'kubelet'].map((manager) => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: Object.fromEntries(
    Array.from({ length: 24 }, (_, i) => [`f:field-${i}`, { '.': {}, 'f:name': {} }]),
  ),
}))

function template(cluster: number, workload: number) {
  const env = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      name: `${name}_${i}`,
      value: hex(cluster * 31 + workload + i, 24),
    }))
  const probe = (path: string) => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    periodSeconds: 10,
    failureThreshold: 3,
  })
  return {
    nodeName: `node-${mixed(cluster, workload) % 200}`,
    serviceAccountName: 'default',
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: 'main',
        image: `registry.example.com/${appOf(workload)}:1.${mixed(workload) % 9}.0`,
        ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
        env: env('SETTING', 12),
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
        livenessProbe: probe('/healthz'),
        readinessProbe: probe('/ready'),
        volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
      },
      { name: 'proxy', image: 'registry.example.com/proxy:1.22.3', env: env('PROXY', 6) },
    ],
    volumes: [{ name: 'config', configMap: { name: `${appOf(workload)}-config` } }],
    tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
  }
}

export interface Made {
  readonly cluster: number
  readonly index: number
  /** How often it has changed. */
  readonly changes: number
  readonly resourceVersion: number
}

export function pod({ cluster, index, changes, resourceVersion }: Made, workloads: number) {
  const workload = index % workloads
  const owner = replicaSetOf(cluster, workload)
  const phase = ALL_PHASES[(mixed(index, cluster) + changes) % ALL_PHASES.length]!
  const ready = phase === 'Running'
  const ip = `10.${mixed(index) % 255}.${mixed(cluster) % 255}.7`
  return {
    metadata: {
      name: `${owner}-${hex(cluster * 1_000_003 + index, 5)}${index.toString(36)}`,
      generateName: `${owner}-`,
      namespace: namespaceOf(workload),
      uid: uidOf(cluster * 10_000_000 + index),
      resourceVersion: String(resourceVersion),
      creationTimestamp: time(index + cluster * 77),
      labels: { ...labelsOf(workload), 'pod-template-hash': owner.slice(-10) },
      annotations: { 'prometheus.io/scrape': 'true', 'cni.example.com/podIP': `${ip}/32` },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: owner,
          uid: uidOf(workload),
          controller: true,
        },
      ],
      managedFields,
    },
    spec: template(cluster, workload),
    status: {
      phase,
      podIP: ip,
      podIPs: [{ ip }],
      hostIP: `192.0.2.${mixed(index) % 255}`,
      startTime: time(index),
      qosClass: 'Burstable',
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: ready ? 'True' : 'False',
        lastProbeTime: null,
        lastTransitionTime: time(index + 9),
      })),
      containerStatuses: ['main', 'proxy'].map((name) => ({
        name,
        ready,
        started: ready,
        restartCount: (mixed(index) + changes) % 4,
        containerID: `containerd://${hex(index, 64)}`,
        imageID: `registry.example.com/x@sha256:${hex(workload, 64)}`,
        state: ready
          ? { running: { startedAt: time(index) } }
          : { waiting: { reason: 'CrashLoopBackOff' } },
      })),
    },
  }
}

export function workloadObject(made: Made, resource: 'deployments' | 'replicasets') {
  const { cluster, index, resourceVersion } = made
  const isSet = resource === 'replicasets'
  return {
    metadata: {
      name: isSet ? replicaSetOf(cluster, index) : appOf(index),
      namespace: namespaceOf(index),
      uid: uidOf(cluster * 10_000_000 + index + (isSet ? 5_000_000 : 6_000_000)),
      resourceVersion: String(resourceVersion),
      generation: 1,
      creationTimestamp: time(index),
      labels: labelsOf(index),
      managedFields,
    },
    spec: {
      replicas: 10,
      selector: { matchLabels: { app: appOf(index) } },
      template: { metadata: { labels: labelsOf(index) }, spec: template(cluster, index) },
    },
    status: { replicas: 10, readyReplicas: 9, availableReplicas: 9, observedGeneration: 1 },
  }
}

export function namespace({ cluster, index, resourceVersion }: Made) {
  return {
    metadata: {
      name: `team-${String(index).padStart(3, '0')}`,
      uid: uidOf(cluster * 10_000_000 + index + 7_000_000),
      resourceVersion: String(resourceVersion),
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }
}

export const NAMESPACE_COUNT = NAMESPACES
