/** The OpenAPI documents, held against what a real API server makes of a CRD. */
import { describe, expect, test } from 'vitest'
import { REGISTRATION_KINDS } from '../../src/registration/kinds.ts'
import { registrationOpenApi } from '../../src/registration/open-api.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many places
const documents = registrationOpenApi() as ReadonlyMap<string, any>

test('one document per group version', () => {
  expect([...documents.keys()]).toEqual([
    'apis/cluster.clusterpedia.io/v1alpha2',
    'apis/fleetglass.io/v1alpha1',
  ])
})

test('what discovery says of the kinds', () => {
  expect(
    REGISTRATION_KINDS.map(({ group, version, resource, kind, shortNames, namespaced }) => [
      `${resource}.${version}.${group}`,
      kind,
      shortNames,
      namespaced,
    ]),
  ).toEqual([
    ['clustersyncresources.v1alpha2.cluster.clusterpedia.io', 'ClusterSyncResources', [], false],
    ['pediaclusters.v1alpha2.cluster.clusterpedia.io', 'PediaCluster', [], false],
    ['fleetaccesses.v1alpha1.fleetglass.io', 'FleetAccess', ['fa'], false],
  ])
})

/** Every `$ref` in a document. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) =>
    key === '$ref' ? [String(child)] : referencesIn(child),
  )
}

for (const [path, document] of documents) {
  describe(path, () => {
    const { schemas } = document.components
    const operations = Object.entries<Record<string, object>>(document.paths).flatMap(
      ([url, item]) =>
        Object.entries(item)
          .filter(([verb]) => verb !== 'parameters')
          // biome-ignore lint/suspicious/noExplicitAny: as above
          .map(([verb, operation]) => ({ url, verb, operation: operation as any })),
    )

    test('every reference leads somewhere', () => {
      const names = Object.keys(schemas).map((name) => `#/components/schemas/${name}`)
      expect(names).toEqual(expect.arrayContaining([...new Set(referencesIn(document))]))
    })

    test('every operation has an id of its own and says what it is about', () => {
      const ids = operations.map(({ operation }) => operation.operationId)
      expect(new Set(ids).size).toBe(ids.length)
      for (const { operation } of operations) {
        expect(operation['x-kubernetes-group-version-kind']).toMatchObject({
          group: path.split('/')[1],
        })
      }
    })

    test('a patch takes fieldValidation, or kubectl validates on its own side', () => {
      const patches = operations.filter(({ verb }) => verb === 'patch')
      expect(patches.length).toBeGreaterThan(0)
      for (const { operation } of patches) {
        const names = operation.parameters.map(({ name }: { name: string }) => name)
        expect(names).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force'])
      }
    })

    test('every field of the schemas is described, so that kubectl explains it', () => {
      const missing = Object.entries(schemas).flatMap(([name, schema]) => undescribed(schema, name))
      expect(missing).toEqual([])
    })
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a schema of any depth
function undescribed(schema: any, path: string): readonly string[] {
  const properties = Object.entries<object>(schema.properties ?? {}).flatMap(([name, child]) => [
    ...('description' in child ? [] : [`${path}.${name}`]),
    ...undescribed(child, `${path}.${name}`),
  ])
  return schema.items ? [...properties, ...undescribed(schema.items, `${path}[]`)] : properties
}
