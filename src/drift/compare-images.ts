/**
 * Which images clusters run in different versions.
 *
 * An image that runs in some clusters only is no drift: what is missing is not different.
 * What makes two clusters the same is decided in same-image.ts.
 */
import { compareBytes } from '../kube/byte-order.ts'
import {
  type Compared,
  type ComparisonInput,
  type Envelope,
  envelope,
  prepare,
} from './comparison.ts'
import type { ImageFacts, RepositoryUse } from './image-inventory.ts'
import { clusterUse, type ImageUse } from './image-use.ts'
import { sortedTexts } from './order.ts'
import { compareUses, type Sameness, type Verdict } from './same-image.ts'
import { behindIn, sameButForV } from './tag-order.ts'

/** What the difference is, or what else is to be said of an image. */
export type ImageClass = 'none' | 'tag' | 'digest' | 'mixed' | 'presence'

export interface ImageRow {
  /** `registry/path`. */
  readonly key: string
  readonly drift: boolean
  readonly class: ImageClass
  readonly clusters: readonly ImageUse[]
  /** Compared clusters that do not run it. */
  readonly missingFrom: readonly string[]
  /** Clusters whose newest tag is older than another's, when all tags are versions. */
  readonly behind: readonly string[]
  /** With a baseline: the clusters that differ from it. */
  readonly differsIn?: readonly string[]
  readonly notes: readonly string[]
}

export interface ImageDrift extends Envelope {
  readonly comparison: 'images'
  readonly rows: readonly ImageRow[]
  /** References that name nothing that could be compared. Never drift. */
  readonly notComparable: ReadonlyArray<{
    readonly image: string
    readonly reason: 'image-id' | 'invalid'
    readonly clusters: readonly string[]
  }>
}

export interface ImageOptions {
  /** True leaves a repository out. */
  readonly isIgnored?: (key: string) => boolean
}

export function compareImages(
  input: ComparisonInput<ImageFacts>,
  { isIgnored = () => false }: ImageOptions = {},
): ImageDrift {
  const compared = prepare(input)
  const keys = new Set(compared.seen.flatMap(({ facts }) => [...facts.repositories.keys()]))
  const rows = sortedTexts(keys)
    .filter((key) => !isIgnored(key))
    .map((key) => rowOf(key, compared))
  const driftCount = rows.filter(({ drift }) => drift).length
  return {
    ...envelope('images', input, { ...compared, driftCount }),
    rows,
    notComparable: notComparable(compared),
  }
}

interface Holder {
  readonly name: string
  readonly use: RepositoryUse
}

function rowOf(key: string, compared: Compared<ImageFacts>): ImageRow {
  const holders = compared.seen.flatMap(({ name, facts }): readonly Holder[] => {
    const use = facts.repositories.get(key)
    return use ? [{ name, use }] : []
  })
  const running = new Set(holders.map(({ name }) => name))
  const missingFrom = compared.seen.map(({ name }) => name).filter((name) => !running.has(name))
  const { baseline, comparable } = compared
  const verdicts = comparable ? verdictsBetween(holders, baseline?.name) : []
  const drift = verdicts.some(({ sameness }) => sameness === 'different')
  const clusters = holders.map(({ name, use }) => clusterUse(name, use))
  return {
    ...{ key, drift, class: classOf({ clusters, drift, verdicts, missingFrom }, comparable) },
    ...{ clusters, missingFrom },
    behind: drift ? behindIn(clusters) : [],
    ...(baseline && { differsIn: comparable ? differing(holders, baseline.name) : [] }),
    notes: notesOn(clusters, verdicts),
  }
}

/** Each cluster's use against the baseline's; without one, each distinct use against the others. */
function verdictsBetween(
  holders: readonly Holder[],
  baseline: string | undefined,
): readonly Verdict[] {
  const distinct = new Map(holders.map((holder) => [signatureOf(holder.use), holder.use]))
  const uses = [...distinct.values()]
  if (baseline !== undefined) {
    const reference = holders.find(({ name }) => name === baseline)
    return reference ? uses.map((use) => compareUses(use, reference.use)) : []
  }
  const verdicts: Verdict[] = []
  for (const [i, use] of uses.entries()) {
    for (const other of uses.slice(i + 1)) {
      const verdict = compareUses(use, other)
      verdicts.push(verdict)
      // Sure already: with many clusters, comparing the rest would only cost time.
      if (verdict.sameness === 'different') return verdicts
    }
  }
  return verdicts
}

/** Equal texts are equal uses, as far as they are compared or shown. */
function signatureOf(use: RepositoryUse): string {
  const tokens = [...use.values()].map(({ token, pinned, tags, resolved, unresolved }) => [
    ...[token, pinned, sortedTexts(tags), unresolved > 0],
    [...resolved].map(([architecture, digests]) => [architecture, ...sortedTexts(digests)]).sort(),
  ])
  return JSON.stringify(tokens.sort((a, b) => compareBytes(String(a[0]), String(b[0]))))
}

function differing(holders: readonly Holder[], baseline: string): readonly string[] {
  const reference = holders.find(({ name }) => name === baseline)
  if (!reference) return []
  const isOther = ({ use }: Holder) => compareUses(use, reference.use).sameness === 'different'
  return holders.filter(isOther).map(({ name }) => name)
}

interface Judged {
  readonly clusters: readonly ImageUse[]
  readonly drift: boolean
  readonly verdicts: readonly Verdict[]
  readonly missingFrom: readonly string[]
}

function classOf(
  { clusters, drift, verdicts, missingFrom }: Judged,
  comparable: boolean,
): ImageClass {
  if (clusters.some(({ mixed }) => mixed)) return 'mixed'
  const sameTags = new Set(clusters.map(({ tags }) => JSON.stringify(tags))).size < 2
  if (drift) return sameTags ? 'digest' : 'tag'
  if (verdicts.some(({ reason }) => reason === 'pinned and tag')) return 'tag'
  return comparable && missingFrom.length > 0 ? 'presence' : 'none'
}

const UNKNOWN_NOTE: Readonly<Record<NonNullable<Verdict['reason']>, string>> = {
  'not resolved': 'equality unknown: not every cluster tells which digest it pulled',
  'pinned and tag': 'equality unknown: pinned by digest in one cluster and by tag in another',
  'possibly platform': 'possibly platform: digests differ, and so do the architectures of nodes',
}

function notesOn(clusters: readonly ImageUse[], verdicts: readonly Verdict[]): readonly string[] {
  const has = (wanted: Sameness) => verdicts.some(({ sameness }) => sameness === wanted)
  const tags = new Set(clusters.map((use) => JSON.stringify(use.tags)))
  const rolling = clusters.filter(({ rollingOut }) => rollingOut).map(({ cluster }) => cluster)
  const reasons = new Set(verdicts.flatMap(({ reason }) => reason ?? []))
  return [
    ...(has('different') ? [] : [...reasons].map((reason) => UNKNOWN_NOTE[reason])),
    ...(tags.size > 1 &&
    verdicts.length > 0 &&
    verdicts.every(({ sameness }) => sameness === 'same')
      ? ['tags differ, the digest is the same']
      : []),
    ...(rolling.length > 0 ? [`a rollout is in progress in ${rolling.join(', ')}`] : []),
    ...sameButForV(clusters.flatMap((use) => use.tags)).map(
      (tag) => `${tag} and v${tag} may be the same`,
    ),
  ]
}

function notComparable({ seen }: Compared<ImageFacts>): ImageDrift['notComparable'] {
  const found = new Map<string, { reason: 'image-id' | 'invalid'; clusters: string[] }>()
  for (const { name, facts } of seen) {
    for (const [image, reason] of facts.unusable) {
      const entry = found.get(image) ?? { reason, clusters: [] }
      entry.clusters.push(name)
      found.set(image, entry)
    }
  }
  return [...found]
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([image, entry]) => ({ image, ...entry }))
}
