/** Situations that the recordings do not show: all groups but core, apps, networking and storage. */
import { FIVE_MINUTES_AGO } from './print.ts'
import { conditions, deleted, describeSituations } from './situations.ts'

const admissionGroup = 'admissionregistration.k8s.io'

describeSituations({
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
  'resourceclasses.resource.k8s.io': [
    ['of a driver', { driverName: 'gpu.example.com' }, { DriverName: 'gpu.example.com' }],
  ],
  'podschedulingcontexts.resource.k8s.io': [
    ['a node is chosen', { spec: { selectedNode: 'a' } }, { SelectedNode: 'a' }],
    ['none is', {}, { SelectedNode: '' }],
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
})
