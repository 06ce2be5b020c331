/** Situations of the smaller kinds that the recordings do not show, one table for all. */
import { describe, expect, test } from 'vitest'
import { FIVE_MINUTES_AGO, rowOf } from './print.ts'

type Fields = Record<string, unknown>
type Situation = readonly [situation: string, object: Fields, row: Fields]

const metadata = (more: Fields) => ({ metadata: { name: 'n', ...more } })
const deleted = metadata({ deletionTimestamp: FIVE_MINUTES_AGO })
const conditions = (
  ...list: ReadonlyArray<readonly [type: string, status: string, reason?: string]>
) => ({
  status: { conditions: list.map(([type, status, reason]) => ({ type, status, reason })) },
})
const subset = (ports: readonly number[], ...ips: readonly string[]) => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: ports.map((port) => ({ port })),
})
const admissionGroup = 'admissionregistration.k8s.io'

const SITUATIONS: Readonly<Record<string, readonly Situation[]>> = {
  'deployments.apps': [
    [
      'empty',
      {},
      { Ready: '0/0', 'Up-to-date': 0, Age: '<unknown>', Containers: '', Selector: '' },
    ],
    [
      'a selector that is none',
      { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'x' }] } } },
      { Selector: '<invalid>' },
    ],
    ['created five minutes ago', metadata({ creationTimestamp: FIVE_MINUTES_AGO }), { Age: '5m' }],
    [
      'created after now',
      metadata({ creationTimestamp: '2027-01-01T00:00:00Z' }),
      { Age: '<invalid>' },
    ],
    [
      'replicas beyond 2^53',
      { spec: { replicas: 9007199254740993n } },
      { Ready: '0/9007199254740993' },
    ],
  ],
  'replicasets.apps': [['empty', {}, { Desired: 0, Selector: '<none>' }]],
  'daemonsets.apps': [['empty', {}, { Desired: 0, 'Node Selector': '<none>', Selector: '<none>' }]],
  'statefulsets.apps': [['empty', {}, { Ready: '0/0' }]],
  'controllerrevisions.apps': [
    [
      'owner of the core group',
      metadata({
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', controller: true }],
      }),
      { Controller: 'pod/p' },
    ],
    [
      'an owner that does not control',
      metadata({
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'X', name: 'x', controller: false }],
      }),
      { Controller: '<none>' },
    ],
  ],
  componentstatuses: [
    ['no condition', {}, { Status: 'Unknown', Message: '', Error: '' }],
    [
      'healthy',
      { conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] },
      { Status: 'Healthy', Message: 'ok' },
    ],
  ],
  configmaps: [
    ['data and binary data', { data: { a: '1' }, binaryData: { b: '', c: '' } }, { Data: 3 }],
    ['data of another type', { data: ['a'] }, { Data: 0 }],
  ],
  namespaces: [['no status', {}, { Status: '' }]],
  limitranges: [
    ['no time', {}, { 'Created At': '0001-01-01T00:00:00Z' }],
    [
      'a time with a zone',
      metadata({ creationTimestamp: '2026-01-01T01:00:00.5+01:00' }),
      { 'Created At': '2026-01-01T00:00:00Z' },
    ],
  ],
  resourcequotas: [
    ['no status', {}, { Request: '', Limit: '' }],
    ['used is unknown', { status: { hard: { pods: '10' } } }, { Request: 'pods: 0/10' }],
    [
      'sorted, limits apart',
      {
        status: {
          hard: { 'requests.cpu': '4', 'limits.cpu': '2', 'count/limits.x': '1', limits: '3' },
          used: { 'limits.cpu': '1500m' },
        },
      },
      {
        Request: 'count/limits.x: 0/1, limits: 0/3, requests.cpu: 0/4',
        Limit: 'limits.cpu: 1500m/2',
      },
    ],
    [
      'a quantity that is none',
      { status: { hard: { pods: 'many' }, used: { pods: {} } } },
      { Request: 'pods: 0/many' },
    ],
  ],
  persistentvolumes: [
    [
      'empty',
      {},
      {
        Capacity: '0',
        Claim: '',
        StorageClass: '',
        VolumeAttributesClass: '<unset>',
        VolumeMode: '<unset>',
      },
    ],
    ['being deleted', { ...deleted, status: { phase: 'Bound' } }, { Status: 'Terminating' }],
    [
      'class by annotation',
      {
        ...metadata({ annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } }),
        spec: { storageClassName: 'new' },
      },
      { StorageClass: 'old' },
    ],
    [
      'modes in their order, each once',
      {
        spec: {
          accessModes: [
            'ReadWriteOncePod',
            'ReadWriteMany',
            'ReadWriteOnce',
            'ReadWriteMany',
            'Odd',
          ],
        },
      },
      { 'Access Modes': 'RWO,RWX,RWOP' },
    ],
    [
      'attributes class',
      { spec: { volumeAttributesClassName: 'gold' } },
      { VolumeAttributesClass: 'gold' },
    ],
  ],
  persistentvolumeclaims: [
    [
      'not bound: what it has does not show',
      {
        status: { phase: 'Pending', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      },
      { Status: 'Pending', Capacity: '', 'Access Modes': '' },
    ],
    ['bound, size unknown', { spec: { volumeName: 'v' } }, { Volume: 'v', Capacity: '0' }],
    ['being deleted', { ...deleted, status: { phase: 'Bound' } }, { Status: 'Terminating' }],
  ],
  endpoints: [
    ['no subsets', { subsets: null }, { Endpoints: '<none>' }],
    ['a subset without addresses', { subsets: [subset([80])] }, { Endpoints: '' }],
    ['no ports', { subsets: [subset([], '10.0.0.1')] }, { Endpoints: '10.0.0.1' }],
    ['IPv6', { subsets: [subset([80], 'fd00::1')] }, { Endpoints: '[fd00::1]:80' }],
    ['exactly three', { subsets: [subset([1, 2, 3], 'a')] }, { Endpoints: 'a:1,a:2,a:3' }],
    [
      'over subsets',
      { subsets: [subset([1], 'a', 'b'), subset([2], 'c', 'd')] },
      { Endpoints: 'a:1,b:1,c:2 + 1 more...' },
    ],
  ],
  'endpointslices.discovery.k8s.io': [
    [
      'ports by name, and any',
      { ports: [{ name: 'http' }, {}, { name: 'x', port: 1 }] },
      { Ports: 'http,*,1' },
    ],
    [
      'many ports',
      { ports: [1, 2, 3, 4, 5].map((port) => ({ port })) },
      { Ports: '1,2,3 + 2 more...' },
    ],
    ['no addresses', { endpoints: [{ addresses: null }] }, { Endpoints: '<unset>' }],
  ],
  'ingresses.networking.k8s.io': [
    [
      'three hosts',
      { spec: { rules: ['a', 'b', 'c'].map((host) => ({ host })) } },
      { Hosts: 'a,b,c' },
    ],
    [
      'rules without hosts count once three hosts are found',
      { spec: { rules: [{}, { host: 'a' }, { host: 'b' }, { host: 'c' }, {}] } },
      { Hosts: 'a,b,c + 2 more...' },
    ],
    ['an empty class', { spec: { ingressClassName: '' } }, { Class: '' }],
    ['TLS', { spec: { tls: [{}] } }, { Ports: '80, 443' }],
    [
      'addresses, never cut',
      {
        status: {
          loadBalancer: { ingress: [{ hostname: 'b.very-long.example.com' }, { ip: '1.1.1.1' }] },
        },
      },
      { Address: '1.1.1.1,b.very-long.example.com' },
    ],
  ],
  'ingressclasses.networking.k8s.io': [
    [
      'default',
      metadata({ annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }),
      { Name: 'n (default)', Parameters: '<none>' },
    ],
    [
      'parameters of the core group',
      { spec: { parameters: { kind: 'ConfigMap', name: 'p' } } },
      { Parameters: 'ConfigMap/p' },
    ],
  ],
  'networkpolicies.networking.k8s.io': [['empty', {}, { 'Pod-Selector': '<none>' }]],
  'ipaddresses.networking.k8s.io': [
    ['no parent', {}, { ParentRef: '<none>' }],
    [
      'parent of a group, no namespace',
      { spec: { parentRef: { group: 'X.io', resource: 'Things', name: 'T' } } },
      { ParentRef: 'things.x.io/T' },
    ],
  ],
  'servicecidrs.networking.k8s.io': [
    ['two', { spec: { cidrs: ['10.0.0.0/24', 'fd00::/64'] } }, { CIDRs: '10.0.0.0/24,fd00::/64' }],
  ],
  'storageclasses.storage.k8s.io': [
    [
      'empty',
      {},
      { ReclaimPolicy: 'Delete', VolumeBindingMode: 'Immediate', AllowVolumeExpansion: false },
    ],
    [
      'default by the older annotation',
      metadata({ annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } }),
      { Name: 'n (default)' },
    ],
    [
      'default is not',
      metadata({ annotations: { 'storageclass.kubernetes.io/is-default-class': 'false' } }),
      { Name: 'n' },
    ],
  ],
  'csidrivers.storage.k8s.io': [
    [
      'empty',
      {},
      { AttachRequired: true, PodInfoOnMount: false, TokenRequests: '<unset>', Modes: '<none>' },
    ],
    [
      'token requests',
      { spec: { tokenRequests: [{ audience: 'a' }, { audience: '' }, { audience: 'c' }] } },
      { TokenRequests: 'a,,c' },
    ],
  ],
  'volumeattachments.storage.k8s.io': [['empty', {}, { Attacher: '', PV: '', Attached: false }]],
  'csinodes.storage.k8s.io': [['empty', {}, { Drivers: 0 }]],
  'certificatesigningrequests.certificates.k8s.io': [
    ['empty', {}, { SignerName: '<none>', RequestedDuration: '<none>', Condition: 'Pending' }],
    [
      'approved and issued',
      { status: { conditions: [{ type: 'Approved' }], certificate: 'aGk=' } },
      { Condition: 'Approved,Issued' },
    ],
    [
      'approved, then failed',
      conditions(['Approved', 'True'], ['Failed', 'True']),
      { Condition: 'Approved,Failed' },
    ],
    [
      'denied and approved',
      conditions(['Approved', 'True'], ['Denied', 'True']),
      { Condition: 'Denied' },
    ],
    ['a day', { spec: { expirationSeconds: 86400 } }, { RequestedDuration: '24h' }],
  ],
  'clustertrustbundles.certificates.k8s.io': [['no signer', {}, { SignerName: '<none>' }]],
  'podcertificaterequests.certificates.k8s.io': [
    ['empty', {}, { State: 'Pending', UnverifiedUserAnnotations: '<none>' }],
    ['issued', conditions(['Other', 'True'], ['Issued', 'True']), { State: 'Issued' }],
    [
      'annotations',
      { spec: { unverifiedUserAnnotations: { 'b.io/x': '2', 'a.io/y': '1' } } },
      { UnverifiedUserAnnotations: 'a.io/y=1,b.io/x=2' },
    ],
  ],
  'leases.coordination.k8s.io': [['nobody', { spec: { holderIdentity: null } }, { Holder: '' }]],
  'leasecandidates.coordination.k8s.io': [
    [
      'candidate',
      { spec: { leaseName: 'l', binaryVersion: '1.36.0', emulationVersion: '1.35.0' } },
      { LeaseName: 'l', BinaryVersion: '1.36.0', EmulationVersion: '1.35.0' },
    ],
  ],
  'rolebindings.rbac.authorization.k8s.io': [
    ['empty', {}, { Role: '/', Users: '', Groups: '', ServiceAccounts: '' }],
    [
      'subjects of each kind',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', namespace: 'a', name: 's' },
          { kind: 'User', name: 'v' },
        ],
      },
      { Role: 'Role/r', Users: 'u, v', Groups: 'g', ServiceAccounts: 'a/s' },
    ],
  ],
  [`validatingadmissionpolicies.${admissionGroup}`]: [
    [
      'no parameters',
      { spec: { validations: [{}, {}] } },
      { Validations: 2, ParamKind: '<unset>' },
    ],
  ],
  [`mutatingadmissionpolicies.${admissionGroup}`]: [
    [
      'parameters',
      { spec: { mutations: [{}], paramKind: { apiVersion: 'x.io/v1', kind: 'P' } } },
      { Mutations: 1, ParamKind: 'x.io/v1/P' },
    ],
  ],
  [`validatingadmissionpolicybindings.${admissionGroup}`]: [
    ['no parameter', { spec: { policyName: 'p' } }, { PolicyName: 'p', ParamRef: '<unset>' }],
    [
      'parameter in a namespace',
      { spec: { paramRef: { namespace: 'a', name: 'x' } } },
      { ParamRef: 'a/x' },
    ],
    [
      'parameter in the namespace under review',
      { spec: { paramRef: { name: 'x' } } },
      { ParamRef: '*/x' },
    ],
  ],
  [`mutatingadmissionpolicybindings.${admissionGroup}`]: [
    [
      'parameters by selector, in the words of Go',
      {
        spec: {
          paramRef: {
            selector: {
              matchLabels: { b: '2', a: '1' },
              matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
            },
          },
        },
      },
      {
        ParamRef:
          '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
      },
    ],
  ],
  'flowschemas.flowcontrol.apiserver.k8s.io': [
    ['empty', {}, { DistinguisherMethod: '<none>', MissingPL: '?' }],
    ['dangling', conditions(['Dangling', 'True']), { MissingPL: 'True' }],
  ],
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': [
    [
      'limited, no queue',
      { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 0 } } },
      { NominalConcurrencyShares: 0, Queues: '<none>', HandSize: '<none>' },
    ],
    [
      'before v1beta3',
      {
        spec: {
          limited: { assuredConcurrencyShares: 7, limitResponse: { queuing: { queues: 1 } } },
        },
      },
      { NominalConcurrencyShares: 7, Queues: 1, HandSize: 0 },
    ],
  ],
  'poddisruptionbudgets.policy': [
    ['neither', {}, { 'Min Available': 'N/A', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 0 }],
    [
      'zero and a percentage',
      { spec: { minAvailable: 0, maxUnavailable: '25%' } },
      { 'Min Available': '0', 'Max Unavailable': '25%' },
    ],
  ],
  'podsecuritypolicies.policy': [
    [
      'privileged',
      {
        spec: {
          privileged: true,
          allowedCapabilities: ['*'],
          seLinux: { rule: 'RunAsAny' },
          volumes: ['configMap', 'secret'],
        },
      },
      {
        Priv: 'true',
        Caps: '*',
        SELinux: 'RunAsAny',
        ReadOnlyRootFs: false,
        Volumes: 'configMap,secret',
      },
    ],
  ],
  'priorityclasses.scheduling.k8s.io': [
    ['empty', {}, { Value: 0, 'Global-Default': false, PreemptionPolicy: '' }],
  ],
  'podgroups.scheduling.k8s.io': [
    ['empty', {}, { Policy: 'Basic', Workload: '<none>', Status: 'Pending' }],
    [
      'gang of a workload',
      {
        spec: {
          schedulingPolicy: { gang: {} },
          podGroupTemplateRef: { workload: { workloadName: 'w' } },
        },
        ...conditions(['PodGroupScheduled', 'True']),
      },
      { Policy: 'Gang', Workload: 'w', Status: 'Scheduled' },
    ],
    ['not scheduled', conditions(['PodGroupScheduled', 'False']), { Status: 'Unschedulable' }],
    [
      'disrupted',
      conditions(['PodGroupScheduled', 'True'], ['DisruptionTarget', 'True', 'Preempted']),
      { Status: 'Preempted' },
    ],
  ],
  'runtimeclasses.node.k8s.io': [
    ['v1alpha1', { spec: { runtimeHandler: 'runsc' } }, { Handler: 'runsc' }],
  ],
  'resourceclaims.resource.k8s.io': [
    ['pending', {}, { State: 'pending' }],
    [
      'allocated and reserved',
      { status: { allocation: {}, reservedFor: [{}] } },
      { State: 'allocated,reserved' },
    ],
    ['reserved but not allocated', { status: { reservedFor: [{}] } }, { State: 'pending' }],
    ['being deleted', deleted, { State: 'deleted' }],
    [
      'being deleted while in use',
      { ...deleted, status: { allocation: {}, reservedFor: [{}] } },
      { State: 'deleted,allocated,reserved' },
    ],
  ],
  'resourceslices.resource.k8s.io': [
    [
      'of a node',
      { spec: { nodeName: 'a', driver: 'gpu', pool: { name: 'p' } } },
      { Node: 'a', Driver: 'gpu', Pool: 'p' },
    ],
    ['v1alpha2', { nodeName: 'a', driverName: 'gpu' }, { Node: 'a', Driver: 'gpu', Pool: '' }],
  ],
  'devicetaintrules.resource.k8s.io': [
    [
      'no time',
      { spec: { taint: { key: 'k', effect: 'NoSchedule' } } },
      { Key: 'k', Value: '', Effect: 'NoSchedule', TimeAdded: '' },
    ],
    ['added', { spec: { taint: { timeAdded: FIVE_MINUTES_AGO } } }, { TimeAdded: '5m' }],
  ],
  'resourcepoolstatusrequests.resource.k8s.io': [
    [
      'pending',
      { spec: { driver: 'gpu' } },
      { Driver: 'gpu', Total: '-', Errors: '-', Pools: 0, Status: 'Pending', Completed: '<none>' },
    ],
    [
      'complete, not all pools listed',
      {
        status: {
          poolCount: 3,
          pools: [
            { totalDevices: 4, availableDevices: 1 },
            { totalDevices: 2, validationError: 'x' },
          ],
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: FIVE_MINUTES_AGO }],
        },
      },
      {
        Total: 6,
        Available: 1,
        Allocated: 0,
        Errors: 1,
        Pools: 3,
        Status: 'Complete (2/3 pools)',
        Completed: '5m',
      },
    ],
    [
      'failed',
      { status: { conditions: [{ type: 'Failed', status: 'True' }] } },
      { Total: '-', Status: 'Failed' },
    ],
  ],
  'apiservices.apiregistration.k8s.io': [
    [
      'no status',
      { spec: { service: { namespace: 'kube-system', name: 'metrics' } } },
      { Service: 'kube-system/metrics', Available: 'Unknown' },
    ],
    [
      'not available',
      conditions(['Available', 'False', 'MissingEndpoints']),
      { Available: 'False (MissingEndpoints)' },
    ],
    ['not available, no reason', conditions(['Available', 'False']), { Available: 'False' }],
    ['available with a reason', conditions(['Available', 'True', 'Passed']), { Available: 'True' }],
  ],
  'storageversions.internal.apiserver.k8s.io': [
    ['empty', {}, { CommonEncodingVersion: '<unset>', StorageVersions: '<unset>' }],
    [
      'four servers',
      {
        status: {
          commonEncodingVersion: 'v1',
          storageVersions: ['a', 'b', 'c', 'd'].map((apiServerID) => ({
            apiServerID,
            encodingVersion: 'v1',
          })),
        },
      },
      { StorageVersions: 'a=v1,b=v1,c=v1 + 1 more...' },
    ],
  ],
  'storageversionmigrations.storagemigration.k8s.io': [
    [
      'unknown',
      { spec: { resource: { resource: 'pods' } } },
      { Resource: 'pods', Status: 'Unknown' },
    ],
    [
      'done',
      {
        spec: { resource: { group: 'apps', resource: 'deployments' } },
        ...conditions(['Running', 'False'], ['Succeeded', 'True']),
      },
      { Resource: 'deployments.apps', Status: 'Succeeded' },
    ],
  ],
}

describe.each(Object.entries(SITUATIONS))('%s', (resource, situations) => {
  test.each(situations)('%s', (_, object, row) => {
    expect(rowOf(resource, object)).toMatchObject(row)
  })
})
