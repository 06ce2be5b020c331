/**
 * From a source to what is compared: one read per type, facts per cluster, and who is left out.
 *
 * Only facts are kept: objects go by one at a time, so memory does not grow with their number.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import type { CrdFacts } from './compare-crds.ts'
import type { VersionFacts } from './compare-versions.ts'
import type { ComparisonInput, Seen, Unknown } from './comparison.ts'
import { type CrdShape, crdShape } from './crd-shape.ts'
import { textAt } from './field.ts'
import { type ImageFacts, ImageInventory, type InventoryOptions } from './image-inventory.ts'
import { NodeCounter, newestKubelet } from './node-versions.ts'
import {
  imagesIn,
  isFinished,
  isMadeByCronJob,
  ROLES,
  type Role,
  templateOf,
} from './pod-images.ts'
import { deploymentKey, deploymentOf, isRollingOut } from './rollout.ts'
import { schemasDigest } from './schemas-digest.ts'
import type { DriftSource, Problem, SourceCluster } from './source.ts'

export const PODS = { group: '', resource: 'pods' }
export const NODES = { group: '', resource: 'nodes' }
export const CRDS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
export const DEPLOYMENTS = { group: 'apps', resource: 'deployments' }
/** Types with a template of pods that somebody wrote; ReplicaSets are made from Deployments. */
export const TEMPLATES: readonly GroupResource[] = [
  DEPLOYMENTS,
  { group: 'apps', resource: 'statefulsets' },
  { group: 'apps', resource: 'daemonsets' },
  { group: 'batch', resource: 'cronjobs' },
  { group: 'batch', resource: 'jobs' },
]

export interface Gathering {
  readonly source: DriftSource
  /** The selected clusters. */
  readonly clusters: readonly SourceCluster[]
}

export async function gatherVersions(gathering: Gathering): Promise<ComparisonInput<VersionFacts>> {
  const { names, unknown } = split(gathering.clusters)
  const counters = new Map(names.map((name) => [name, new NodeCounter()]))
  const problems = await gathering.source.read({ of: NODES, clusters: names }, (cluster, node) =>
    counters.get(cluster)?.add(node),
  )
  return collect(gathering, unknown, ({ name, version }): VersionFacts | Problem => {
    const nodes = problems.has(name) ? undefined : counters.get(name)?.result()
    const known = version ?? newestKubelet(nodes)
    if (known !== undefined) return { version: known, estimated: version === undefined, nodes }
    return { why: 'not collected', message: 'its version was never told' }
  })
}

export interface CrdGathering extends Gathering {
  /** Compares schemas as well. */
  readonly schemas?: boolean
}

export async function gatherCrds(gathering: CrdGathering): Promise<ComparisonInput<CrdFacts>> {
  const { names, unknown } = split(gathering.clusters)
  const shapes = new Map<string, CrdShape[]>(names.map((name) => [name, []]))
  const problems = await gathering.source.read({ of: CRDS, clusters: names }, (cluster, crd) => {
    const shape = crdShape(crd)
    if (!shape) return
    const schemas = gathering.schemas ? { schemas: schemasDigest(crd) } : {}
    shapes.get(cluster)?.push({ ...shape, ...schemas })
  })
  return collect(
    gathering,
    unknown,
    ({ name }) => problems.get(name) ?? { crds: shapes.get(name) ?? [] },
  )
}

export interface ImageGathering extends Gathering, InventoryOptions {
  /** `pods`: what runs. `templates`: what is declared, running or not. */
  readonly from: 'pods' | 'templates'
  /** Left out, all. */
  readonly namespaces?: readonly string[]
  readonly includeFinished?: boolean
  readonly includeEphemeral?: boolean
}

export async function gatherImages(
  gathering: ImageGathering,
): Promise<ComparisonInput<ImageFacts>> {
  const { names, unknown } = split(gathering.clusters)
  const inventories = new Map(names.map((name) => [name, new ImageInventory(gathering)]))
  const read = gathering.from === 'pods' ? readPods : readTemplates
  const problems = await read(gathering, names, inventories)
  return collect(
    gathering,
    unknown,
    ({ name }): ImageFacts | Problem => problems.get(name) ?? inventories.get(name)!,
  )
}

type Inventories = ReadonlyMap<string, ImageInventory>

async function readPods(
  gathering: ImageGathering,
  clusters: readonly string[],
  inventories: Inventories,
): Promise<ReadonlyMap<string, Problem>> {
  const { source, includeFinished = false } = gathering
  const [architectures, rollouts] = await Promise.all([
    architecturesByNode(source, clusters),
    rolloutsIn(gathering, clusters),
  ])
  const roles = rolesOf(gathering)
  const finished = includeFinished ? [] : ['status.phase notin (Succeeded,Failed)']
  const fieldSelector = [...finished, ...inNamespaces(gathering)].join(',')
  return source.read({ of: PODS, clusters, fieldSelector }, (cluster, pod) => {
    if (!includeFinished && isFinished(pod)) return
    const deployment = deploymentOf(pod)
    const place = {
      namespace: textAt(pod, 'metadata', 'namespace') ?? '',
      architecture: architectures.get(placeKey(cluster, textAt(pod, 'spec', 'nodeName') ?? '')),
      rollingOut: deployment !== undefined && rollouts.has(placeKey(cluster, deployment)),
    }
    for (const image of imagesIn(pod)) {
      if (roles.has(image.role)) inventories.get(cluster)?.add(image, place)
    }
  })
}

/** Nothing without its nodes: what is not known of them narrows no answer, it makes one less sure. */
async function architecturesByNode(
  source: DriftSource,
  clusters: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  await source.read({ of: NODES, clusters }, (cluster, node) => {
    const architecture = textAt(node, 'status', 'nodeInfo', 'architecture')
    const name = textAt(node, 'metadata', 'name')
    if (architecture && name) found.set(placeKey(cluster, name), architecture)
  })
  return found
}

async function rolloutsIn(
  gathering: ImageGathering,
  clusters: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const request = { of: DEPLOYMENTS, clusters, ...selecting(inNamespaces(gathering)) }
  await gathering.source.read(request, (cluster, deployment) => {
    if (!isRollingOut(deployment)) return
    const name = textAt(deployment, 'metadata', 'name') ?? ''
    found.add(placeKey(cluster, deploymentKey(deployment, name)))
  })
  return found
}

/** A space is in no name. */
function placeKey(cluster: string, name: string): string {
  return `${cluster} ${name}`
}

async function readTemplates(
  gathering: ImageGathering,
  clusters: readonly string[],
  inventories: Inventories,
): Promise<ReadonlyMap<string, Problem>> {
  const roles = rolesOf(gathering)
  const problems = new Map<string, Problem>()
  for (const of of TEMPLATES) {
    const request = { of, clusters, ...selecting(inNamespaces(gathering)) }
    const found = await gathering.source.read(request, (cluster, workload) => {
      if (of.resource === 'jobs' && isMadeByCronJob(workload)) return
      const namespace = textAt(workload, 'metadata', 'namespace') ?? ''
      const rollingOut = of === DEPLOYMENTS && isRollingOut(workload)
      for (const image of imagesIn(templateOf(workload))) {
        if (roles.has(image.role)) inventories.get(cluster)?.add(image, { namespace, rollingOut })
      }
    })
    for (const [cluster, problem] of found) problems.set(cluster, problem)
  }
  return problems
}

function rolesOf({ includeEphemeral = false }: ImageGathering): ReadonlySet<Role> {
  return new Set(ROLES.filter((role) => includeEphemeral || role !== 'ephemeral'))
}

function inNamespaces({ namespaces = [] }: ImageGathering): readonly string[] {
  return namespaces.length > 0 ? [`metadata.namespace in (${namespaces.join(',')})`] : []
}

function selecting(terms: readonly string[]): { readonly fieldSelector?: string } {
  return terms.length > 0 ? { fieldSelector: terms.join(',') } : {}
}

function split(clusters: readonly SourceCluster[]) {
  const unknown: Unknown[] = []
  const names: string[] = []
  for (const { name, problem } of clusters) {
    if (problem) unknown.push({ cluster: name, ...problem })
    else names.push(name)
  }
  return { names, unknown }
}

function collect<Facts extends object>(
  { clusters }: Gathering,
  unknownBefore: readonly Unknown[],
  factsOf: (cluster: SourceCluster) => Facts | Problem,
): ComparisonInput<Facts> {
  const unknown = [...unknownBefore]
  const seen: Seen<Facts>[] = []
  for (const cluster of clusters.filter(({ problem }) => !problem)) {
    const facts = factsOf(cluster)
    if (isProblem(facts)) unknown.push({ cluster: cluster.name, ...facts })
    else seen.push({ name: cluster.name, observedAt: cluster.observedAt, facts })
  }
  return { seen, unknown }
}

function isProblem(found: object): found is Problem {
  return 'why' in found
}
