/** The numbered tests of everything that is no workload: Services, claims, budgets, quotas … */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SWEPT_RESOURCES } from '../../src/fleet/swept-resources.ts'
import { type Fields, isRecord } from '../../src/printers/read-field.ts'
import {
  ago,
  CRASHING,
  deployment,
  event,
  issuesIn,
  type Lists,
  meta,
  readyPod,
  rowFor,
  shortRow,
} from './cluster.ts'

type Case = readonly [situation: string, lists: Lists, issues: readonly string[]]

const service = (name: string, spec: Fields, metadata: Fields = {}) => ({
  metadata: meta(name, metadata),
  spec,
  status: { loadBalancer: {} },
})
const slice = (service: string, ready: boolean | null) => ({
  metadata: meta(`${service}-x`, { labels: { 'kubernetes.io/service-name': service } }),
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
})
const F18: Lists = {
  services: [
    service('s1', { type: 'ClusterIP', selector: { app: 'a' } }),
    service('s2', { type: 'LoadBalancer', selector: { app: 'b' } }),
    service('s3', { selector: { app: 'z' } }),
    service(
      's4',
      { selector: { app: 'q' } },
      { annotations: { 'kubeagent.io/expected-empty': 'True' } },
    ),
    service('s5', { type: 'ExternalName', selector: { app: 'a' } }),
    service('s6', { type: 'LoadBalancer' }),
    service('s7', { selector: { app: 'c' } }),
  ],
  endpointslices: [slice('s7', null)],
  deployments: [deployment('z', { replicas: 0, ready: 0 })],
}
const backend = (name: string, port: Fields = { number: 80 }) => ({
  backend: { service: { name, port } },
})
const F19: Lists = {
  services: [
    service('web', { selector: { app: 'a' }, ports: [{ name: 'http', port: 80 }] }),
    service('out', { type: 'ExternalName' }),
  ],
  endpointslices: [slice('web', true)],
  ingresses: [
    {
      metadata: meta('i'),
      spec: {
        defaultBackend: { service: { name: 'gone', port: { number: 80 } } },
        rules: [
          { http: { paths: [backend('gone'), backend('gone')] } },
          {
            http: {
              paths: [
                backend('web', { number: 81 }),
                backend('web', { name: 'http' }),
                backend('web', {}),
              ],
            },
          },
          {
            http: {
              paths: [backend('out'), { backend: { resource: { kind: 'Bucket', name: 'b' } } }],
            },
          },
        ],
      },
    },
  ],
}
const budget = (status: Fields, spec: Fields = { minAvailable: 1 }) => ({
  metadata: meta('b'),
  spec,
  status,
})
const BUDGETS: readonly Fields[] = [
  budget({ expectedPods: 0 }),
  budget({ expectedPods: 1, desiredHealthy: 1 }),
  budget({ expectedPods: 3, desiredHealthy: 3 }),
  budget({ expectedPods: 3, desiredHealthy: 2, currentHealthy: 1, disruptionsAllowed: 0 }),
  budget({ expectedPods: 3, desiredHealthy: 2, currentHealthy: 3, disruptionsAllowed: 1 }),
  budget({ expectedPods: 0 }, {}),
]
const autoscaler = (
  ...conditions: ReadonlyArray<readonly [type: string, status: string, reason?: string]>
) => ({
  metadata: meta('h'),
  status: { conditions: conditions.map(([type, status, reason]) => ({ type, status, reason })) },
})
const quota = (resource: string, used: string, hard: string) => ({
  metadata: meta('q'),
  status: { hard: { [resource]: hard }, used: { [resource]: used } },
})
const webhook = (more: Fields) => ({
  name: 'w',
  failurePolicy: 'Fail',
  rules: [{}],
  clientConfig: { service: { namespace: 'default', name: 'web' } },
  ...more,
})
const absent = { clientConfig: { service: { namespace: 'default', name: 'gone' } } }
const hooks = (...webhooks: Fields[]): Lists => ({
  services: [service('web', {}), service('empty', {})],
  endpointslices: [slice('web', true)],
  validatingwebhookconfigurations: [{ metadata: { name: 'v' }, webhooks }],
})

const CASES: readonly Case[] = [
  ['F18 Services', F18, ['NoEndpoints', 'NoEndpoints', 'NoExternalAddress', 'NoExternalAddress']],
  ['F19 Ingresses', F19, ['NoService', 'NoService', 'NoService', 'PortNotExposed']],
  [
    'F21 pods and a namespace that do not go',
    {
      pods: [
        readyPod('a', { deletionTimestamp: '2026-09-01T11:58:00Z' }),
        readyPod('b', { deletionTimestamp: '2026-09-01T11:57:59Z' }),
      ],
      namespaces: [{ metadata: { name: 'n', deletionTimestamp: '2026-09-01T10:00:00Z' } }],
    },
    ['StuckTerminating', 'StuckTerminating'],
  ],
  [
    'F22 an autoscaler that cannot scale',
    {
      horizontalpodautoscalers: [autoscaler(['AbleToScale', 'False'], ['ScalingActive', 'False'])],
    },
    ['HPAUnableToScale'],
  ],
  [
    'F22 an autoscaler without metrics',
    {
      horizontalpodautoscalers: [autoscaler(['ScalingActive', 'False', 'FailedGetResourceMetric'])],
    },
    ['HPAMetricsFailed'],
  ],
  [
    'F22 an autoscaler of something scaled to zero',
    { horizontalpodautoscalers: [autoscaler(['ScalingActive', 'False', 'ScalingDisabled'])] },
    ['HPAScalingDisabled'],
  ],
  [
    'an autoscaler that is inactive for a reason nobody knows',
    { horizontalpodautoscalers: [autoscaler(['ScalingActive', 'False', 'constructor'])] },
    ['HPAMetricsFailed'],
  ],
  [
    'an autoscaler whose selector is shared',
    { horizontalpodautoscalers: [autoscaler(['ScalingActive', 'False', 'AmbiguousSelector'])] },
    ['HPAAmbiguousSelector'],
  ],
  [
    'F22 an autoscaler at its least',
    { horizontalpodautoscalers: [autoscaler(['ScalingLimited', 'True', 'TooFewReplicas'])] },
    [],
  ],
  [
    'F22 an autoscaler at its most',
    { horizontalpodautoscalers: [autoscaler(['ScalingLimited', 'True', 'TooManyReplicas'])] },
    ['HPACapped'],
  ],
  ['F22 a quota at 90 %', { resourcequotas: [quota('pods', '45', '50')] }, ['near']],
  ['F22 a quota below', { resourcequotas: [quota('pods', '44', '50')] }, []],
  ['F22 a quota that is used up', { resourcequotas: [quota('pods', '50', '50')] }, ['exhausted']],
  ['F22 a quota of nothing', { resourcequotas: [quota('services.nodeports', '0', '0')] }, []],
  ['a quota in different units', { resourcequotas: [quota('memory', '950Mi', '1Gi')] }, ['near']],
  ['a quota that cannot be read', { resourcequotas: [quota('memory', 'much', '1Gi')] }, []],
  ['F22 a webhook without its Service', hooks(webhook(absent)), ['MissingService']],
  ['F22 one that may be left out', hooks(webhook({ ...absent, failurePolicy: 'Ignore' })), []],
  ['F22 one without rules', hooks(webhook({ ...absent, rules: [] })), []],
  ['F22 one that may take long', hooks(webhook({ timeoutSeconds: 15 })), ['HighTimeout']],
  ['F22 one that may not', hooks(webhook({ timeoutSeconds: 14 })), []],
  [
    'a webhook without pods',
    hooks(webhook({ clientConfig: { service: { namespace: 'default', name: 'empty' } } })),
    ['NoEndpoints'],
  ],
  [
    'a webhook by URL',
    hooks(webhook({ clientConfig: { url: 'https://x' }, timeoutSeconds: 30 })),
    [],
  ],
]

const claim = (spec: Fields, more: Fields = {}) => ({
  metadata: meta('data', more),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  status: { phase: 'Pending' },
})
const volume = (more: Fields = {}, labels: Fields = {}) => ({
  metadata: { name: 'pv', labels },
  spec: { capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteOnce'], ...more },
  status: { phase: 'Available' },
})
const ofClaim = (reason: string, age: number) =>
  event(reason, ['PersistentVolumeClaim', 'data'], { lastTimestamp: ago(age) })
const FAST = { metadata: { name: 'fast' } }
const selector = { matchLabels: { tier: 'gold' } }

const CLAIMS: readonly Case[] = [
  [
    'a class that is not there',
    { persistentvolumeclaims: [claim({ storageClassName: 'fast' })] },
    ['MissingStorageClass'],
  ],
  [
    'a static claim without a volume',
    { persistentvolumeclaims: [claim({ storageClassName: '' })] },
    ['NoMatchingPV'],
  ],
  ['no class, and no default one', { persistentvolumeclaims: [claim({})] }, ['NoMatchingPV']],
  [
    'no class, and a default one',
    {
      persistentvolumeclaims: [claim({})],
      storageclasses: [
        {
          metadata: {
            name: 's',
            annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
          },
        },
      ],
    },
    [],
  ],
  [
    'a volume that fits',
    { persistentvolumeclaims: [claim({ storageClassName: '' })], persistentvolumes: [volume()] },
    [],
  ],
  [
    'a volume that is too small',
    {
      persistentvolumeclaims: [claim({ storageClassName: '' })],
      persistentvolumes: [volume({ capacity: { storage: '1G' } })],
    },
    ['NoMatchingPV'],
  ],
  [
    'a volume with other labels',
    {
      persistentvolumeclaims: [claim({ storageClassName: '', selector })],
      persistentvolumes: [volume()],
    },
    ['PVSelectorMismatch'],
  ],
  [
    'a volume with the labels',
    {
      persistentvolumeclaims: [claim({ storageClassName: '', selector })],
      persistentvolumes: [volume({}, { tier: 'gold' })],
    },
    [],
  ],
  [
    'provisioning has failed',
    {
      persistentvolumeclaims: [claim({ storageClassName: 'fast' })],
      storageclasses: [FAST],
      events: [ofClaim('ProvisioningFailed', 60)],
    },
    ['ProvisioningFailed'],
  ],
  [
    'binding has failed',
    {
      persistentvolumeclaims: [claim({ storageClassName: 'fast' })],
      storageclasses: [FAST],
      events: [ofClaim('FailedBinding', 60)],
    },
    ['FailedBinding'],
  ],
  [
    'provisioning failed and something came since; then nothing for long',
    {
      persistentvolumeclaims: [claim({ storageClassName: 'fast' })],
      storageclasses: [FAST],
      events: [ofClaim('ProvisioningFailed', 60), ofClaim('ExternalProvisioning', 30)],
    },
    ['ProvisionerNotResponding'],
  ],
  [
    'a young claim',
    {
      persistentvolumeclaims: [
        claim({ storageClassName: 'fast' }, { creationTimestamp: ago(599) }),
      ],
      storageclasses: [FAST],
    },
    [],
  ],
  [
    'a class that waits for a consumer',
    {
      persistentvolumeclaims: [claim({ storageClassName: 'fast' })],
      storageclasses: [{ ...FAST, volumeBindingMode: 'WaitForFirstConsumer' }],
    },
    [],
  ],
]

describe('other resources', () => {
  test.each([...CASES, ...CLAIMS])('%s', (_, lists, issues) => {
    expect(issuesIn({ lists })).toEqual(issues)
  })

  test.each([
    [0, ['PDBStale']],
    [1, ['PDBSingleton']],
    [2, ['PDBUnsatisfiable']],
    [3, ['PDBBlocked']],
    [4, []],
    [5, ['PDBUnsatisfiable']],
  ] as const)('F21 disruption budget %i', (i, issues) => {
    expect(issuesIn({ lists: { poddisruptionbudgets: [BUDGETS[i]!] } })).toEqual(issues)
  })

  test('F18 and F19 as rows', () => {
    expect(shortRow(rowFor({ lists: F18 }))).toBe('pass 0/4/0 0 [NoEndpoints, NoExternalAddress]')
    expect(shortRow(rowFor({ lists: F19 }))).toBe('pass 0/4/0 0 [NoService, PortNotExposed]')
  })

  test('nodes are judged when asked for', () => {
    const nodes = [
      {
        metadata: { name: 'a' },
        spec: { unschedulable: true },
        status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
      },
      {
        metadata: { name: 'b' },
        status: {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'DiskPressure', status: 'True' },
          ],
        },
      },
    ]
    expect(issuesIn({ lists: { nodes } })).toEqual([])
    expect(issuesIn({ lists: { nodes } }, { nodes: true })).toEqual([
      'NodeCordoned',
      'NodeNotReady',
      'NodePressure',
    ])
  })
})

describe('a check whose input was not read is skipped, and the rest is not', () => {
  test.each([
    ['services: no route is called broken', F19, 'services', []],
    [
      'endpointslices: no Service is called empty',
      F18,
      'endpointslices',
      ['NoExternalAddress', 'NoExternalAddress'],
    ],
    [
      'cronjobs: a Service may be expected empty',
      F18,
      'cronjobs',
      ['NoExternalAddress', 'NoExternalAddress'],
    ],
    ['services: no webhook is called broken', hooks(webhook(absent)), 'services', []],
    ['services: nor slow', hooks(webhook({ timeoutSeconds: 20 })), 'services', []],
    ['endpointslices: nor slow', hooks(webhook({ timeoutSeconds: 20 })), 'endpointslices', []],
    ['storageclasses', CLAIMS[0]![1], 'storageclasses', []],
    ['persistentvolumes', CLAIMS[1]![1], 'persistentvolumes', []],
    ['events: silence is no finding', CLAIMS[10]![1], 'events', []],
    ['replicasets: pods still crash', CRASHING, 'replicasets', ['CrashLoopBackOff']],
    ['pods: a Deployment is not called degraded', CRASHING, 'pods', []],
    ['networkpolicies', CRASHING, 'networkpolicies', ['CrashLoopBackOff']],
  ] as const)('%s', (...[, lists, refused, issues]) => {
    expect(issuesIn({ lists, refused: [refused] })).toEqual(issues)
    expect(rowFor({ lists, refused: [refused] }).verdict).toBe('inconclusive')
  })
})

describe('a selector of a claim that cannot be understood selects no volume', () => {
  test.each([
    ['no object', 'all'],
    ['labels that are a list', { matchLabels: ['a'] }],
    ['a label that is no text', { matchLabels: { a: 1 } }],
    ['expressions that are none', { matchExpressions: 'a in (b)' }],
    ['an expression that is none', { matchExpressions: [null] }],
    ['an operator that is not known', { matchExpressions: [{ key: 'a', operator: 'Like' }] }],
    ['In nothing', { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] }],
    ['NotIn nothing', { matchExpressions: [{ key: 'a', operator: 'NotIn' }] }],
    [
      'Exists with a value',
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    ],
  ])('%s', (_, selector) => {
    const lists = {
      persistentvolumeclaims: [claim({ storageClassName: '', selector })],
      persistentvolumes: [volume({}, { a: '1' })],
    }
    expect(issuesIn({ lists })).toEqual(['PVSelectorMismatch'])
  })

  test('one that is there and empty selects all', () => {
    for (const selector of [{}, { matchLabels: null, matchExpressions: null }, null]) {
      const persistentvolumeclaims = [claim({ storageClassName: '', selector })]
      expect(
        issuesIn({ lists: { persistentvolumeclaims, persistentvolumes: [volume()] } }),
      ).toEqual([])
    }
  })
})

test('volumes are looked at once for all claims that ask alike', () => {
  let looks = 0
  const persistentvolumes = Array.from({ length: 500 }, (_, i) => {
    const { spec, ...rest } = volume({ capacity: { storage: `${i}Mi` } })
    return Object.defineProperty(rest, 'spec', {
      get() {
        looks++
        return spec
      },
    }) as unknown as Fields
  })
  const persistentvolumeclaims = Array.from({ length: 1000 }, (_, i) =>
    claim({ storageClassName: '', resources: { requests: { storage: `${i}Mi` } } }),
  )
  expect(issuesIn({ lists: { persistentvolumeclaims, persistentvolumes } })).toHaveLength(500)
  expect(looks).toBeLessThanOrEqual(500)
})

describe('rubbish', () => {
  const odd: readonly Fields[] = [
    {},
    { metadata: null, spec: null, status: null },
    {
      metadata: { name: 7, ownerReferences: null, creationTimestamp: 'soon' },
      spec: [],
      status: 'x',
    },
    {
      metadata: meta('a'),
      spec: { rules: null, ports: [null], selector: 3 },
      status: {
        phase: 'Odd',
        containerStatuses: [null, 3, {}],
        conditions: [null],
        hard: [1],
        used: null,
      },
    },
    {
      metadata: meta('a', { ownerReferences: [{}] }),
      webhooks: [null, {}],
      endpoints: [{ addresses: null }],
      involvedObject: 4,
    },
  ]
  test.each(SWEPT_RESOURCES)('in %s ends nothing', (resource) => {
    expect(() => issuesIn({ lists: { [resource]: odd } }, { nodes: true })).not.toThrow()
  })

  const junk = fc.oneof(
    fc.constantFrom(null, undefined, true, 0, -1, 1e308, '', 'x', '1Ki', '１', '__proto__', [], {}),
    fc.constantFrom([null], [[]], [{}], { constructor: null }, '2026-13-45T99:99:99Z', 'NaN'),
  )
  /** The object with whatever was drawn in the place of some of its parts. */
  function spoilt(value: unknown, draw: () => unknown): unknown {
    const drawn = draw()
    if (drawn !== KEPT) return drawn
    if (Array.isArray(value)) return value.map((one) => spoilt(one, draw))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoilt(one, draw)]))
  }
  const KEPT = Symbol('kept')
  const whole: Lists = { ...CRASHING, ...F18, ...F19, ...hooks(webhook({})), ...CLAIMS[2]![1] }

  test('in the place of any part of any object ends nothing, and every cluster has its row', () => {
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.oneof({ weight: 9, arbitrary: fc.constant(KEPT) }, junk)),
        (stream) => {
          const draw = () => stream.next().value
          const lists = Object.fromEntries(
            Object.entries(whole).map(([resource, objects]) => [
              ...[resource, objects!.map((one) => spoilt(one, draw)).filter(isRecord)],
            ]),
          )
          const row = rowFor({ lists })
          expect(['pass', 'fail']).toContain(row.verdict)
          expect(row.critical + row.warning + row.info).toBeGreaterThanOrEqual(row.topIssues.length)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('everywhere at once', () => {
    const lists = Object.fromEntries(SWEPT_RESOURCES.map((resource) => [resource, odd]))
    expect(() => issuesIn({ lists }, { nodes: true })).not.toThrow()
  })
})
