/**
 * Where clusters run another Kubernetes than others, and where nodes run another than their server.
 *
 * A vendor's suffix makes two versions different, at the level `build`. Kubelets that differ within
 * one cluster are skew of that cluster, and no drift between clusters.
 */
import { timestamp } from '../kube/timestamp.ts'
import { type ComparisonInput, type Envelope, envelope, prepare, type Seen } from './comparison.ts'
import {
  compareVersions,
  type KubernetesVersion,
  type Level,
  largest,
  levelBetween,
  parseVersion,
  type Skew,
  skewOf,
} from './kubernetes-version.ts'
import type { NodeVersions, VersionCount } from './node-versions.ts'

export interface VersionFacts {
  /** `gitVersion`, as the server told it. */
  readonly version: string
  /** True: the server never told, and this is the newest version of its kubelets. */
  readonly estimated: boolean
  /** Undefined: its nodes are not known. */
  readonly nodes: NodeVersions | undefined
}

export interface VersionRow extends Omit<VersionFacts, 'nodes'> {
  readonly cluster: string
  readonly observedAt: string
  readonly preRelease: boolean
  /** Against the baseline, when there is one. */
  readonly level?: Level
  readonly nodes: NodeVersions | null
  /** Where its nodes break Kubernetes' version skew policy. */
  readonly skew: ReadonlyArray<VersionCount & { readonly flag: Skew }>
}

export interface VersionDrift extends Envelope {
  readonly comparison: 'versions'
  /** By the largest difference between any two, or to the baseline. */
  readonly level: Level
  /** Oldest first. */
  readonly versions: ReadonlyArray<{
    readonly version: string
    readonly clusters: readonly string[]
  }>
  readonly rows: readonly VersionRow[]
}

export interface VersionOptions {
  /** True leaves clusters of this version out. */
  readonly isIgnored?: (version: string) => boolean
}

export function compareClusterVersions(
  given: ComparisonInput<VersionFacts>,
  { isIgnored = () => false }: VersionOptions = {},
): VersionDrift {
  const input = { ...given, seen: given.seen.filter(({ facts }) => !isIgnored(facts.version)) }
  const compared = prepare(input)
  const { seen, baseline, comparable } = compared
  const reference = baseline && parseVersion(baseline.facts.version)
  const groups = groupByVersion(seen)
  const levels = comparable ? levelsOf(groups, reference) : []
  const notes = [...compared.notes, ...notesOn(seen, comparable ? groups : [])]
  const rows = seen.map((cluster) => rowOf(cluster, comparable ? reference : undefined))
  const differing = rows.filter(({ level = 'none' }) => level !== 'none')
  const between = comparable ? Math.max(groups.length - 1, 0) : 0
  const driftCount = input.baseline === undefined ? between : differing.length
  return {
    ...envelope('versions', input, { ...compared, notes, driftCount }),
    level: largest(levels),
    versions: groups.map(({ version, clusters }) => ({ version: version.text, clusters })),
    rows,
  }
}

interface VersionGroup {
  readonly version: KubernetesVersion
  readonly clusters: string[]
}

/** A leading `v` is no difference. */
function groupByVersion(seen: ReadonlyArray<Seen<VersionFacts>>): readonly VersionGroup[] {
  const groups: VersionGroup[] = []
  const known = new Map<string, VersionGroup>()
  for (const { name, facts } of seen) {
    const version = parseVersion(facts.version)
    const key = version.numbers ? `${version.numbers.join('.')} ${version.suffix}` : version.text
    const group = known.get(key) ?? { version, clusters: [] }
    if (!known.has(key)) groups.push(group)
    known.set(key, group)
    group.clusters.push(name)
  }
  return groups.sort((a, b) => compareVersions(a.version, b.version))
}

function levelsOf(
  groups: readonly VersionGroup[],
  reference: KubernetesVersion | undefined,
): readonly Level[] {
  if (reference) return groups.map(({ version }) => levelBetween(version, reference))
  // Sorted, so no two are further apart than the ends.
  const [first, last] = [groups[0], groups.at(-1)]
  return first && last ? [levelBetween(first.version, last.version)] : []
}

function notesOn(
  seen: ReadonlyArray<Seen<VersionFacts>>,
  groups: readonly VersionGroup[],
): readonly string[] {
  const estimated = seen.filter(({ facts }) => facts.estimated).map(({ name }) => name)
  const releases = new Map<string, VersionGroup>()
  for (const group of groups) {
    const { numbers, suffix } = group.version
    if (numbers && suffix === '') releases.set(numbers.join('.'), group)
  }
  const early = groups.filter(
    ({ version }) => version.preRelease && releases.has(version.numbers?.join('.') ?? ''),
  )
  return [
    ...(estimated.length > 0
      ? [`estimated from kubelets, because the server did not tell: ${estimated.join(', ')}`]
      : []),
    ...early.map(({ version }) => `${version.text} is a pre-release of a version that others run`),
  ]
}

function rowOf(
  { name, observedAt, facts }: Seen<VersionFacts>,
  reference: KubernetesVersion | undefined,
): VersionRow {
  const version = parseVersion(facts.version)
  const kubelets = facts.nodes?.kubelets ?? []
  return {
    cluster: name,
    version: facts.version,
    estimated: facts.estimated,
    observedAt: timestamp(observedAt.getTime()),
    preRelease: version.preRelease,
    ...(reference && { level: levelBetween(version, reference) }),
    nodes: facts.nodes ?? null,
    skew: kubelets.flatMap((kubelet) => {
      const flag = skewOf(version, parseVersion(kubelet.version))
      return flag ? [{ flag, ...kubelet }] : []
    }),
  }
}
