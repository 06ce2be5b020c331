/**
 * Clusters and objects from the store, in one pass over all clusters, within a reader's scope.
 *
 * The rows are streamed and selected by SQL; what is not in step is said, not guessed.
 */
import { parseFieldSelector } from '../kube/field-selector.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import type { Catalog, CatalogCluster } from '../store/catalog.ts'
import type { Store } from '../store/connect.ts'
import { listObjects } from '../store/list-objects.ts'
import type { ListRequest, ObjectCondition, RawRow } from '../store/list-request.ts'
import type { ReadScope } from '../store/read-scope.ts'
import { type Freshness, sourceCluster, typeProblem } from './mirror-problems.ts'
import { type DriftSource, objectProblem, type Problem, type ReadRequest } from './source.ts'

export interface StoreSourceOptions extends Freshness {
  readonly store: Store
  readonly catalog: Catalog
  /** What the reader may see of a type; of all types, clusters without a scope do not exist. */
  readonly scopeOf: (of: GroupResource) => ReadScope
  /** Clusters that exist for the reader. */
  readonly isVisible: (cluster: CatalogCluster) => boolean
}

/** For whoever may read the database itself. */
export function everyCluster(catalog: Catalog): Pick<StoreSourceOptions, 'scopeOf' | 'isVisible'> {
  const scope = catalog.clusters.map(({ id, name }) => ({
    ...{ id, name },
    namespaces: 'every-namespace' as const,
  }))
  return { scopeOf: () => scope, isVisible: () => true }
}

export function storeSource(options: StoreSourceOptions): DriftSource {
  const clusters = options.catalog.clusters.filter(options.isVisible)
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]))
  return {
    async clusters() {
      return clusters.map((cluster) => sourceCluster(cluster, options))
    },
    async read(request, each) {
      const problems = new Map<string, Problem>()
      const allowed = new Map(options.scopeOf(request.of).map((scoped) => [scoped.name, scoped]))
      const scope = request.clusters.flatMap((name) => {
        const cluster = byName.get(name)
        const scoped = allowed.get(name)
        const problem = typeProblem(cluster, scoped !== undefined, request.of)
        if (problem) problems.set(name, problem)
        return problem || !scoped ? [] : [scoped]
      })
      await readRows({ ...options, scope }, request, (name, row) => {
        try {
          each(name, objectOf(row))
        } catch (error) {
          problems.set(name, objectProblem(error))
        }
      })
      return problems
    },
  }
}

async function readRows(
  { store, catalog, scope }: StoreSourceOptions & { readonly scope: ReadScope },
  { of, fieldSelector = '' }: ReadRequest,
  each: (cluster: string, row: RawRow) => void,
): Promise<void> {
  const [id] = [...catalog.types].find(
    ([, type]) => type.group === of.group && type.resource === of.resource,
  ) ?? [undefined]
  if (id === undefined) return
  const names = new Map(scope.map((scoped) => [scoped.id, scoped.name]))
  const request: ListRequest = {
    ...{ type: { ...of, id }, scope, order: [] },
    conditions: conditionsFrom(fieldSelector),
    want: { cells: false, metadata: false, body: true },
  }
  for await (const rows of listObjects(store, request)) {
    for (const row of rows) each(names.get(row.clusterId) ?? '', row)
  }
}

function conditionsFrom(fieldSelector: string): readonly ObjectCondition[] {
  return parseFieldSelector(fieldSelector).map((requirement) => ({ on: 'field', requirement }))
}

function objectOf({ head, metadata, tail }: RawRow): KubeObject {
  return JSON.parse(Buffer.concat([head!, metadata!, tail!]).toString('utf8'))
}
