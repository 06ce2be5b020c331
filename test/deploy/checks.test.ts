/** The checks of the other tests find what they are for. */
import { describe, expect, test } from 'vitest'
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
