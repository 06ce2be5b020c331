import { describe, expect, test } from 'vitest'
import { digestOf, normalised } from '../../src/drift/normalise.ts'
import { canonicalQuantity } from '../../src/drift/quantity.ts'

const container = (more: object) => ({ name: 'main', image: 'app:1', ...more })
const deployment = (more: { metadata?: object; container?: object; [field: string]: unknown }) => {
  const { metadata, container: own = {}, ...rest } = more
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'a', labels: { app: 'web' }, ...metadata },
    spec: { replicas: 1, template: { spec: { containers: [container(own)] } } },
    ...rest,
  }
}
const equal = (a: object, b: object) =>
  digestOf(normalised({ ...a })) === digestOf(normalised({ ...b }))

describe('E14 the same Deployment in two clusters', () => {
  test.each([
    ['what the server fills in', { metadata: { uid: 'u', resourceVersion: '9', generation: 4 } }],
    ['when it was made', { metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } }],
    ['who manages which field', { metadata: { managedFields: [{ manager: 'kubectl' }] } }],
    ['its owner, which has another uid', { metadata: { ownerReferences: [{ uid: 'x' }] } }],
    ['status', { status: { readyReplicas: 1 } }],
    [
      'annotations of tools and of ours',
      {
        metadata: {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': '{}',
            'deployment.kubernetes.io/revision': '7',
            'shadow.clusterpedia.io/cluster-name': 'b',
          },
        },
      },
    ],
    ['a null for what is not set', { container: { command: null } }],
  ])('%s is no difference', (_, more) => {
    expect(equal(deployment({}), deployment(more))).toBe(true)
  })

  test.each([
    ['another image', { container: { image: 'app:2' } }],
    ['another label', { metadata: { labels: { app: 'api' } } }],
    ['an annotation of its own', { metadata: { annotations: { team: 'a' } } }],
    ['an empty list for what is not set', { container: { command: [] } }],
  ])('%s is one', (_, more) => {
    expect(equal(deployment({}), deployment(more))).toBe(false)
  })

  test('quantities are compared by value', () => {
    const cpu = (value: unknown) =>
      deployment({ container: { resources: { limits: { cpu: value } } } })
    expect(equal(cpu('1000m'), cpu('1'))).toBe(true)
    expect(equal(cpu(1), cpu('1'))).toBe(true)
    expect(equal(cpu('1001m'), cpu('1'))).toBe(false)
  })

  test('keys have no order, lists have', () => {
    const one = deployment({ container: { args: ['a', 'b'], env: [] } })
    expect(equal(one, deployment({ container: { env: [], args: ['a', 'b'] } }))).toBe(true)
    expect(equal(one, deployment({ container: { args: ['b', 'a'], env: [] } }))).toBe(false)
  })

  test('an address that the cluster gave out is none of a Service', () => {
    const service = (spec: object) => ({ kind: 'Service', metadata: { name: 's' }, spec })
    const given = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], type: 'ClusterIP' }
    expect(equal(service(given), service({ type: 'ClusterIP' }))).toBe(true)
    expect(equal(service(given), service({ type: 'NodePort' }))).toBe(false)
  })
})

describe('quantities in one spelling', () => {
  test.each([
    ['1000m', '1'],
    ['1', '1'],
    ['1.0', '1'],
    ['1e3', '1000'],
    ['1E3', '1000'],
    ['1k', '1000'],
    ['1E', '1000000000000000000'],
    ['1Ki', '1024'],
    ['0.5Gi', '536870912'],
    ['1.5', '1.5'],
    ['100m', '0.1'],
    ['1n', '0.000000001'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-1500m', '-1.5'],
    ['+2', '2'],
    ['-0', '0'],
    ['1e-3', '0.001'],
    ['9007199254740993', '9007199254740993'],
    ['many', 'many'],
    ['', ''],
    ['.', '.'],
    ['1 Gi', '1 Gi'],
  ])('%s is %s', (given, expected) => {
    expect(canonicalQuantity(given)).toBe(expected)
  })
})
