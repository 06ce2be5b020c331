/** Which printer a resource gets, and what holds for every printer. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/kube-object.ts'
import columns from '../../src/printers/columns.json' with { type: 'json' }
import { customResourcePrinter } from '../../src/printers/custom-resource.ts'
import type { Printer } from '../../src/printers/printer.ts'
import { printerFor } from '../../src/printers/printers.ts'
import { NOW, printedAt } from './print.ts'

function printer(groupVersion: string, resource: string): Printer {
  const [group = '', version = ''] = groupVersion.includes('/')
    ? groupVersion.split('/')
    : ['', groupVersion]
  return printerFor({ group, version, resource, kind: '' })
}

const names = ({ columns }: Printer) => columns.map(({ name }) => name)

describe('an older version prints as the kind does now', () => {
  test.each([
    ['policy/v1beta1', 'poddisruptionbudgets', 'policy/v1'],
    ['batch/v1beta1', 'cronjobs', 'batch/v1'],
    ['batch/v2alpha1', 'cronjobs', 'batch/v1'],
    ['autoscaling/v1', 'horizontalpodautoscalers', 'autoscaling/v2'],
    ['autoscaling/v2beta1', 'horizontalpodautoscalers', 'autoscaling/v2'],
    ['autoscaling/v2beta2', 'horizontalpodautoscalers', 'autoscaling/v2'],
    ['networking.k8s.io/v1beta1', 'ingresses', 'networking.k8s.io/v1'],
    ['networking.k8s.io/v1beta1', 'ingressclasses', 'networking.k8s.io/v1'],
    ['extensions/v1beta1', 'ingresses', 'networking.k8s.io/v1'],
    ['extensions/v1beta1', 'networkpolicies', 'networking.k8s.io/v1'],
    ['extensions/v1beta1', 'deployments', 'apps/v1'],
    ['extensions/v1beta1', 'daemonsets', 'apps/v1'],
    ['extensions/v1beta1', 'replicasets', 'apps/v1'],
    ['extensions/v1beta1', 'podsecuritypolicies', 'policy/v1beta1'],
    ['apps/v1beta1', 'statefulsets', 'apps/v1'],
    ['apps/v1beta2', 'deployments', 'apps/v1'],
    ['events.k8s.io/v1beta1', 'events', 'v1'],
    ['events.k8s.io/v1', 'events', 'v1'],
    ['discovery.k8s.io/v1beta1', 'endpointslices', 'discovery.k8s.io/v1'],
    ['storage.k8s.io/v1beta1', 'csidrivers', 'storage.k8s.io/v1'],
    ['flowcontrol.apiserver.k8s.io/v1beta1', 'flowschemas', 'flowcontrol.apiserver.k8s.io/v1'],
    ['flowcontrol.apiserver.k8s.io/v1beta3', 'flowschemas', 'flowcontrol.apiserver.k8s.io/v1'],
    ['rbac.authorization.k8s.io/v1beta1', 'rolebindings', 'rbac.authorization.k8s.io/v1'],
    ['certificates.k8s.io/v1beta1', 'certificatesigningrequests', 'certificates.k8s.io/v1'],
    ['coordination.k8s.io/v1beta1', 'leases', 'coordination.k8s.io/v1'],
    ['node.k8s.io/v1alpha1', 'runtimeclasses', 'node.k8s.io/v1'],
    ['resource.k8s.io/v1beta1', 'resourceclaims', 'resource.k8s.io/v1'],
    ['apiextensions.k8s.io/v1beta1', 'customresourcedefinitions', 'apiextensions.k8s.io/v1'],
  ])('%s %s', (older, resource, newest) => {
    const found = printer(older, resource)
    expect(found).toBe(newest === 'v1' ? printer('v1', resource) : printer(newest, resource))
    expect(names(found)).not.toEqual([])
  })
})

test.each([
  ['a kind nobody knows', 'example.com/v1', 'pods'],
  ['a resource named as a built-in one, of another group', 'serving.knative.dev/v1', 'services'],
  ['a name that every object has', 'v1', 'constructor'],
])('%s: Name and Age', (_, groupVersion, resource) => {
  expect(names(printer(groupVersion, resource))).toEqual(['Name', 'Age'])
})

const resources = Object.keys(columns.resources)

function builtIn(qualified: string): Printer {
  const [resource = '', ...group] = qualified.split('.')
  return printerFor({ group: group.join('.'), resource, version: 'v1', kind: '' })
}

test.each(resources)('%s: an empty object has a cell in every column', (resource) => {
  const found = builtIn(resource)
  const extra = resource === 'ipaddresses.networking.k8s.io' ? 1 : 0
  expect(found.cells({})).toHaveLength(found.columns.length + extra)
})

/** Recorded objects with the printers of their kinds, to be spoilt in one place. */
const TABLES = join(import.meta.dirname, '../recorded/tables')
const recorded = readdirSync(TABLES).flatMap((file) => {
  const { apiVersion, resource, table } = JSON.parse(readFileSync(join(TABLES, file), 'utf8')) as {
    apiVersion: string
    resource: string
    table: { rows: ReadonlyArray<{ object: KubeObject }> }
  }
  const own = printer(apiVersion, resource)
  return table.rows.map(({ object }) => ({ own, object }))
})

/** The object with the value at the nth place of all its places replaced. */
function spoilt(value: unknown, replacement: unknown, place: { left: number }): unknown {
  if (place.left-- === 0) return replacement
  if (Array.isArray(value)) return value.map((item) => spoilt(item, replacement, place))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, spoilt(item, replacement, place)]),
  )
}

const odd = fc.oneof(
  fc.jsonValue(),
  fc.bigInt(),
  fc.constantFrom(null, '', 'x', -1, 0, 1.5, true, [null], [[]], [{}], { a: null }, {}),
)
const custom = customResourcePrinter([
  { name: 'a', type: 'string', jsonPath: '.spec..x' },
  { name: 'b', type: 'integer', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'c', type: 'date', jsonPath: '.metadata.*' },
  { name: 'd', type: 'string', jsonPath: '.spec[0:2]' },
])

describe('no printer throws, and what it prints is JSON', () => {
  const printers = [...resources.map(builtIn), custom]

  test('whatever the object is', () => {
    const object = fc.object({
      key: fc.constantFrom('metadata', 'spec', 'status', 'name', 'conditions', 'items', 'x'),
      maxDepth: 5,
    })
    fc.assert(
      fc.property(object, fc.constantFrom(...printers), (any, one) => {
        expect(printedAt(NOW, one, any as KubeObject).cells).toBeInstanceOf(Array)
      }),
      { numRuns: 1000 },
    )
  })

  test('whatever one field of a real object is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...recorded), odd, fc.nat(120), (real, replacement, left) => {
        const broken = spoilt(real.object, replacement, { left: left + 1 }) as KubeObject
        expect(printedAt(NOW, real.own, broken).cells).toBeInstanceOf(Array)
      }),
      { numRuns: 10_000 },
    )
  })
})
