/** Situations that the recordings do not show: core, apps, networking and storage. */
import { FIVE_MINUTES_AGO } from './print.ts'
import { deleted, describeSituations, metadata } from './situations.ts'

const subset = (ports: readonly number[], ...ips: readonly string[]) => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: ports.map((port) => ({ port })),
})

describeSituations({
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
    ['an unnamed port that is any', { ports: [{ name: '' }] }, { Ports: '<unset>' }],
    ['two of which one is that', { ports: [{ name: '' }, { port: 1 }] }, { Ports: ',1' }],
    ['no ports', { ports: null }, { Ports: '<unset>' }],
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
})
