/** The four clusters of the demo: what each runs, how it is registered, what is synced from it. */
import type { SyncGroupResources } from '../kube/pedia-cluster.ts'
import { claim } from './life/claim.ts'
import { crashLoop } from './life/crash-loop.ts'
import type { Life } from './life/cycle.ts'
import { nodeOutage } from './life/node-outage.ts'
import { rollout } from './life/rollout.ts'
import type { NodeState } from './node.ts'

export interface DemoMember {
  readonly name: string
  readonly version: string
  readonly labels: Readonly<Record<string, string>>
  /** How its credentials stand in the PediaCluster: all forms there are, over the fleet. */
  readonly registeredBy:
    | 'kubeconfig with token'
    | 'token'
    | 'client certificate'
    | 'kubeconfig with certificate'
  /** How old its oldest objects are. */
  readonly ageDays: number
  readonly sync: {
    /** Beside the list that all share. */
    readonly own: readonly SyncGroupResources[]
    readonly allCustomResources?: boolean
  }
  /** Image tag of `silly-demo`, which all clusters run; where it differs there is drift. */
  readonly sillyDemoTag: string
  /** Further deployments of a-team, so that a search by a part of a name finds some here. */
  readonly alsoRuns: readonly string[]
  readonly nodes: readonly NodeState[]
  readonly lives: readonly Life[]
  /** `claims`: the custom resources and objects of them; `definitions`: an older definition only. */
  readonly customResources: 'claims' | 'definitions' | 'none'
}

const HEALTHY: readonly NodeState[] = [
  { letter: 'a', ready: 'True' },
  { letter: 'b', ready: 'True' },
  { letter: 'c', ready: 'True' },
]

export const DEMO_MEMBERS: readonly DemoMember[] = [
  {
    name: 'dot-01',
    version: 'v1.36.2',
    labels: { env: 'dev', region: 'eu' },
    registeredBy: 'kubeconfig with token',
    ageDays: 31,
    sync: {
      own: [
        { group: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'] },
        { group: 'rbac.authorization.k8s.io', resources: ['*'] },
      ],
      allCustomResources: true,
    },
    sillyDemoTag: '1.4.2',
    alsoRuns: ['something-useful'],
    nodes: HEALTHY,
    lives: [claim],
    customResources: 'claims',
  },
  {
    name: 'dot-02',
    version: 'v1.33.1',
    labels: { env: 'prod', region: 'eu' },
    registeredBy: 'token',
    ageDays: 210,
    sync: {
      own: [
        { group: 'storage.k8s.io', resources: ['*'] },
        { group: 'scheduling.k8s.io', resources: ['priorityclasses'] },
      ],
    },
    sillyDemoTag: '1.4.2',
    alsoRuns: [],
    nodes: HEALTHY.filter(({ letter }) => letter !== 'b'),
    lives: [rollout, nodeOutage('b')],
    customResources: 'none',
  },
  {
    name: 'dot-03',
    version: 'v1.27.16',
    labels: { env: 'prod', region: 'us' },
    registeredBy: 'client certificate',
    ageDays: 640,
    sync: {
      own: [
        { group: '', resources: ['*'] },
        { group: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'] },
      ],
    },
    sillyDemoTag: '1.4.1',
    alsoRuns: ['do-something'],
    nodes: HEALTHY,
    lives: [crashLoop],
    customResources: 'definitions',
  },
  {
    name: 'dot-04',
    version: 'v1.20.15',
    labels: { env: 'prod', region: 'us', legacy: 'true' },
    registeredBy: 'kubeconfig with certificate',
    ageDays: 1890,
    sync: { own: [] },
    sillyDemoTag: '1.3.9',
    alsoRuns: ['old-something'],
    nodes: [HEALTHY[0]!, HEALTHY[1]!, { letter: 'c', ready: 'False', since: -5400 }],
    lives: [],
    customResources: 'none',
  },
]

/** The list that every member names in `syncResourcesRefName`. */
export const SHARED_SYNC = {
  name: 'workloads',
  syncResources: [
    {
      group: '',
      resources: [
        'namespaces',
        'nodes',
        'pods',
        'services',
        'configmaps',
        'secrets',
        'serviceaccounts',
        'persistentvolumeclaims',
        'persistentvolumes',
        'resourcequotas',
        'events',
      ],
    },
    { group: 'apps', resources: ['*'] },
    { group: 'batch', resources: ['jobs', 'cronjobs'] },
    { group: 'autoscaling', resources: ['horizontalpodautoscalers'] },
    { group: 'networking.k8s.io', resources: ['ingresses', 'networkpolicies'] },
    { group: 'policy', resources: ['poddisruptionbudgets'] },
    // What a health sweep looks at beside these (fleet/swept-resources.ts).
    { group: 'discovery.k8s.io', resources: ['endpointslices'] },
    { group: 'storage.k8s.io', resources: ['storageclasses'] },
    { group: 'coordination.k8s.io', resources: ['leases'] },
    {
      group: 'admissionregistration.k8s.io',
      resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    },
  ] satisfies readonly SyncGroupResources[],
}
