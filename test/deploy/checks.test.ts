/** The checks of the other tests find what they are for. */
import { describe, expect, test } from 'vitest'
import { foreignProblems } from '../support/foreign-schema.ts'
import type { Manifest } from '../support/manifests.ts'
import { brokenRules } from '../support/pod-security.ts'
import { RecordedSchema } from '../support/recorded-schema.ts'

describe('the recorded schema', () => {
  const schema = new RecordedSchema()
  const deployment = (container: object, spec: object = {}) => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' } },
    spec: { selector: {}, template: { spec: { containers: [container] } }, ...spec },
  })

  test('takes what is right', () => {
    const container = { name: 'x', resources: { limits: { cpu: 1, memory: '1Gi' } } }
    const strategy = { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }
    expect(schema.problems(deployment(container, { strategy }))).toEqual([])
  })

  test.each([
    ['a field that there is not', deployment({ name: 'x', imag: 'y' }), '"imag"'],
    ['a wrong type', deployment({ name: 'x' }, { replicas: 'two' }), '/spec/replicas'],
    ['a missing field', deployment({ image: 'y' }), '"name"'],
    [
      'a field of a list item',
      deployment({ name: 'x', ports: [{ port: 1 }] }),
      '/spec/template/spec/containers/0/ports/0',
    ],
  ])('finds %s', (_, object, place) => {
    expect(schema.problems(object)!.join('\n')).toContain(place)
  })

  test('does not know others’ kinds', () => {
    expect(schema.problems({ apiVersion: 'example.com/v1', kind: 'Deployment' })).toBeUndefined()
  })
})

describe('what others’ operators take', () => {
  const monitor = (endpoint: object) => ({
    ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor', metadata: {} },
    spec: { selector: {}, endpoints: [endpoint] },
  })
  const alert = (rule: object) => ({
    ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: {} },
    spec: { groups: [{ name: 'x', rules: [{ alert: 'X', expr: 'up', ...rule }] }] },
  })
  const certificate = (spec: object) => ({
    ...{ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: {} },
    spec: { secretName: 'x', issuerRef: { name: 'x' }, ...spec },
  })

  test('is taken', () => {
    expect(foreignProblems(monitor({ port: 'x', interval: '1m30s' }))).toEqual([])
    expect(foreignProblems(alert({ for: '5m' }))).toEqual([])
    expect(foreignProblems(certificate({ duration: '2160h' }))).toEqual([])
  })

  test.each([
    ['a field that there is not', monitor({ ports: 'x' }), '"ports"'],
    ['a scheme that there is not', monitor({ scheme: 'HTTPS' }), '/spec/endpoints/0/scheme'],
    ['a duration of another kind', alert({ for: '5 min' }), '/spec/groups/0/rules/0/for'],
    ['a rule that is two', alert({ record: 'x' }), '/spec/groups/0/rules/0'],
    ['days, which Go does not know', certificate({ duration: '90d' }), '/spec/duration'],
    ['a use that there is not', certificate({ usages: ['server'] }), '/spec/usages/0'],
    ['a missing issuer', certificate({ issuerRef: {} }), '/spec/issuerRef'],
    [
      'an issuer of two kinds',
      {
        ...{ apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata: {} },
        spec: { selfSigned: {}, ca: { secretName: 'x' } },
      },
      '/spec',
    ],
  ])('%s is found', (_, object, place) => {
    expect(foreignProblems(object)!.join('\n')).toContain(place)
  })
})

describe('Pod Security', () => {
  const good: Manifest = {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'x',
        resources: { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  }
  const container = (context: object, rest: object = {}) => ({
    containers: [
      {
        ...good.containers[0],
        ...rest,
        securityContext: { ...good.containers[0].securityContext, ...context },
      },
    ],
  })

  test('takes what is right', () => {
    expect(brokenRules(good)).toEqual([])
  })

  test.each<[object, string]>([
    [{ hostNetwork: true }, 'no namespaces of the host'],
    [{ volumes: [{ name: 'x', hostPath: {} }] }, 'only volumes that are not of the host'],
    [container({}, { ports: [{ hostPort: 1 }] }), 'no ports of the host'],
    [container({ privileged: true }), 'privileged is not asked for'],
    [container({ allowPrivilegeEscalation: undefined }), 'allowPrivilegeEscalation: false'],
    [container({ runAsNonRoot: false }), 'runAsNonRoot: true'],
    [container({ runAsUser: 0 }), 'runAsUser is not 0'],
    [container({ seccompProfile: { type: 'Unconfined' } }), 'seccompProfile'],
    [
      container({ capabilities: { drop: ['ALL'], add: ['SYS_TIME'] } }),
      'all capabilities are dropped',
    ],
    [container({ readOnlyRootFilesystem: false }), 'readOnlyRootFilesystem: true'],
    [container({}, { resources: {} }), 'a limit of memory'],
  ])('%j breaks a rule', (change, says) => {
    expect(brokenRules({ ...good, ...change })).toEqual([`x: ${says}`])
  })
})
