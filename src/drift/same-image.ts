/**
 * Whether two clusters run the same of one repository.
 *
 * Three answers: what was pulled is not always known, and what is not known is not a difference.
 */
import type { RepositoryUse, TokenUse } from './image-inventory.ts'

export type Sameness = 'same' | 'different' | 'unknown'

export interface Verdict {
  readonly sameness: Sameness
  /** Why it is not known. */
  readonly reason?: 'not resolved' | 'pinned and tag' | 'possibly platform'
}

const SAME: Verdict = { sameness: 'same' }
const DIFFERENT: Verdict = { sameness: 'different' }

export function compareUses(a: RepositoryUse, b: RepositoryUse): Verdict {
  const apart = [...a.values()]
    .filter(({ token }) => !b.has(token))
    .concat([...b.values()].filter(({ token }) => !a.has(token)))
  if (apart.length === 0) return comparePulled(a, b)
  // A pinned image may be what a tag elsewhere stands for; two tags are two, and so are two digests.
  const mayBeEqual = apart.some(({ pinned }) => pinned) && hasTag(a, b) && !twoTagsApart(a, b)
  return mayBeEqual ? compareContents(a, b) : DIFFERENT
}

function hasTag(...uses: readonly RepositoryUse[]): boolean {
  return uses.some((use) => [...use.values()].some(({ pinned }) => !pinned))
}

function twoTagsApart(a: RepositoryUse, b: RepositoryUse): boolean {
  const tagsOnlyIn = (use: RepositoryUse, other: RepositoryUse) =>
    [...use.values()].some(({ pinned, token }) => !pinned && !other.has(token))
  return tagsOnlyIn(a, b) && tagsOnlyIn(b, a)
}

/** Equal tokens: a tag may still have been pulled at two times. */
function comparePulled(a: RepositoryUse, b: RepositoryUse): Verdict {
  const verdicts = [...a.values()]
    .filter(({ pinned }) => !pinned)
    .map((use) => comparePulls(use, b.get(use.token)!))
  return worst(verdicts)
}

function comparePulls(a: TokenUse, b: TokenUse): Verdict {
  if (a.resolved.size === 0 && b.resolved.size === 0) return SAME
  if (a.resolved.size === 0 || b.resolved.size === 0) {
    return { sameness: 'unknown', reason: 'not resolved' }
  }
  return compareDigests([a], [b])
}

function compareContents(a: RepositoryUse, b: RepositoryUse): Verdict {
  const isKnown = (use: RepositoryUse) =>
    [...use.values()].every(({ unresolved }) => unresolved === 0)
  if (!isKnown(a) || !isKnown(b)) return { sameness: 'unknown', reason: 'pinned and tag' }
  return compareDigests([...a.values()], [...b.values()])
}

/**
 * A tag may resolve to one digest per platform, so digests are compared where both clusters have
 * nodes of one architecture; an unknown architecture may be any.
 */
function compareDigests(a: readonly TokenUse[], b: readonly TokenUse[]): Verdict {
  const [architecturesA, architecturesB] = [architecturesOf(a), architecturesOf(b)]
  const shared = [...architecturesA].filter((one) => architecturesB.has(one))
  const unknown = architecturesA.has('') || architecturesB.has('')
  if (equal(digestsOf(a), digestsOf(b))) return SAME
  if (unknown) return DIFFERENT
  const isDifferent = shared.some((one) => !equal(digestsOf(a, one), digestsOf(b, one)))
  return isDifferent ? DIFFERENT : { sameness: 'unknown', reason: 'possibly platform' }
}

function architecturesOf(uses: readonly TokenUse[]): ReadonlySet<string> {
  return new Set(uses.flatMap(({ resolved }) => [...resolved.keys()]))
}

function digestsOf(uses: readonly TokenUse[], architecture?: string): ReadonlySet<string> {
  return new Set(
    uses.flatMap(({ resolved }) =>
      architecture === undefined
        ? [...resolved.values()].flatMap((digests) => [...digests])
        : [...(resolved.get(architecture) ?? [])],
    ),
  )
}

function equal(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((one) => b.has(one))
}

function worst(verdicts: readonly Verdict[]): Verdict {
  const is = (wanted: Sameness) => verdicts.find(({ sameness }) => sameness === wanted)
  return is('different') ?? is('unknown') ?? SAME
}
