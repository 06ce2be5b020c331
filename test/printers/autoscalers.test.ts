import { describe, expect, test } from 'vitest'
import { rowOf } from './print.ts'

type Fields = Record<string, unknown>

/** `spec.metrics` and `status.currentMetrics`, one of each. */
const metric = (type: string, spec: Fields, status?: Fields) => {
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`
  return {
    spec: { metrics: [{ type, [field]: spec }] },
    status: { currentMetrics: status === undefined ? null : [{ type, [field]: status }] },
  }
}
const annotated = (annotations: Fields) => ({
  metadata: {
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [
        `autoscaling.alpha.kubernetes.io/${key}`,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ) as Record<string, string>,
  },
})

describe('TARGETS', () => {
  test.each<[string, Fields, string]>([
    ['no metrics', {}, '<none>'],
    [
      'v2 utilization',
      metric(
        'Resource',
        { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
        { name: 'cpu', current: { averageUtilization: 50, averageValue: '1' } },
      ),
      'cpu: 50%/80%',
    ],
    [
      'v2 utilization, not measured',
      metric('Resource', { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } }),
      'cpu: <unknown>/80%',
    ],
    [
      'v2 utilization without a target',
      metric('Resource', { name: 'cpu', target: { type: 'Utilization' } }),
      'cpu: <unknown>/<auto>',
    ],
    [
      'v2 average of a resource',
      metric(
        'Resource',
        { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
        { name: 'memory', current: { averageValue: '1536Mi' } },
      ),
      'memory: 1536Mi/1Gi',
    ],
    [
      'v2 container',
      metric(
        'ContainerResource',
        { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 80 } },
        { name: 'cpu', container: 'c', current: { averageUtilization: 5 } },
      ),
      'cpu: 5%/80%',
    ],
    [
      'v2 pods',
      metric(
        'Pods',
        { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '1000' } },
        { metric: { name: 'rps' }, current: { averageValue: '1500m' } },
      ),
      '1500m/1k',
    ],
    [
      'v2 object',
      metric(
        'Object',
        { metric: { name: 'rps' }, describedObject: {}, target: { type: 'Value', value: '10' } },
        { current: { value: '5' } },
      ),
      '5/10',
    ],
    [
      'v2 object, average',
      metric(
        'Object',
        { target: { type: 'AverageValue', averageValue: '10' } },
        { current: { averageValue: '5' } },
      ),
      '5/10 (avg)',
    ],
    [
      'v2 external',
      metric('External', { target: { type: 'Value', value: '10' } }, { current: { value: '5' } }),
      '5/10',
    ],
    [
      'v2 external, average not measured',
      metric('External', { target: { type: 'AverageValue', averageValue: '30' } }),
      '<unknown>/30 (avg)',
    ],
    [
      'v2 external, measured without a value',
      metric(
        'External',
        { target: { type: 'Value', value: '10' } },
        { current: { averageValue: '1' } },
      ),
      '<nil>/10',
    ],
    [
      'v2beta1 resource',
      metric(
        'Resource',
        { name: 'cpu', targetAverageUtilization: 80 },
        { name: 'cpu', currentAverageUtilization: 50, currentAverageValue: '1' },
      ),
      'cpu: 50%/80%',
    ],
    [
      'v2beta1 average of a resource',
      metric(
        'Resource',
        { name: 'memory', targetAverageValue: '1Gi' },
        { name: 'memory', currentAverageValue: '512Mi' },
      ),
      'memory: 512Mi/1Gi',
    ],
    [
      'v2beta1 pods',
      metric(
        'Pods',
        { metricName: 'rps', targetAverageValue: '10' },
        { metricName: 'rps', currentAverageValue: '5' },
      ),
      '5/10',
    ],
    [
      'v2beta1 object',
      metric(
        'Object',
        { target: { kind: 'Service', name: 's' }, metricName: 'rps', targetValue: '10' },
        { target: { kind: 'Service', name: 's' }, metricName: 'rps', currentValue: '5' },
      ),
      '5/10',
    ],
    [
      'v2beta1 object, average',
      metric(
        'Object',
        { target: { kind: 'Service', name: 's' }, targetValue: '0', averageValue: '10' },
        { currentValue: '0', averageValue: '5' },
      ),
      '5/10 (avg)',
    ],
    [
      'v2beta1 external',
      metric(
        'External',
        { metricName: 'q', targetValue: '10' },
        { metricName: 'q', currentValue: '5' },
      ),
      '5/10',
    ],
    [
      'v2beta1 external, average',
      metric(
        'External',
        { metricName: 'q', targetAverageValue: '10' },
        { metricName: 'q', currentValue: '0', currentAverageValue: '5' },
      ),
      '5/10 (avg)',
    ],
    [
      'v1 CPU',
      {
        spec: { targetCPUUtilizationPercentage: 80 },
        status: { currentCPUUtilizationPercentage: 50 },
      },
      'cpu: 50%/80%',
    ],
    [
      'v1 CPU, not measured',
      { spec: { targetCPUUtilizationPercentage: 80 } },
      'cpu: <unknown>/80%',
    ],
    [
      'v1 with further metrics in annotations, which come first',
      {
        ...annotated({
          metrics: [{ type: 'Pods', pods: { metricName: 'rps', targetAverageValue: '10' } }],
          'current-metrics': [
            { type: 'Pods', pods: { metricName: 'rps', currentAverageValue: '5' } },
          ],
        }),
        spec: { targetCPUUtilizationPercentage: 80 },
        status: { currentCPUUtilizationPercentage: 50 },
      },
      '5/10, cpu: 50%/80%',
    ],
    [
      'v1 with an annotation that is no JSON',
      { ...annotated({ metrics: '{' }), spec: { targetCPUUtilizationPercentage: 80 } },
      'cpu: <unknown>/80%',
    ],
    ['a type that is none', metric('Magic', {}), '<unknown type>'],
    [
      'more than two',
      {
        spec: {
          metrics: ['a', 'b', 'c', 'd'].map((name) => ({
            type: 'Resource',
            resource: { name, target: { type: 'Utilization', averageUtilization: 1 } },
          })),
        },
      },
      'a: <unknown>/1%, b: <unknown>/1% + 2 more...',
    ],
  ])('%s', (_, object, targets) => {
    expect(rowOf('horizontalpodautoscalers.autoscaling', object).Targets).toBe(targets)
  })
})

test('replicas', () => {
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 5 }
  const row = { Reference: 'Deployment/web', MinPods: '<unset>', MaxPods: 5, Replicas: 3 }
  const object = { spec, status: { currentReplicas: 3 } }
  expect(rowOf('horizontalpodautoscalers.autoscaling', object)).toMatchObject(row)
})
