/**
 * Types that a request for a collection names and that are not there, said with every answer:
 * without a word, what they lack would look like objects that are not there.
 */
import type { TypePattern } from '../../kube/collection-resource.ts'
import { apiVersionOf, type GroupResource, qualifiedResource } from '../../kube/group-resource.ts'
import { nearest } from '../../kube/nearest.ts'
import { namedClusters } from '../named-clusters.ts'
import { notSyncedHint } from '../routes/empty-answer.ts'
import type { AskedTypes } from './asked-types.ts'

const TEXT_MOST_CHARACTERS = 120

/** Sentences. */
export function absentTypes({ unmatched, listable }: AskedTypes): readonly string[] {
  if (unmatched.length === 0) return []
  const known = listable()
  const named = namedClusters(unmatched.map((pattern) => describe(pattern, known)))
  return [`where you asked, you may list no ${named}`]
}

/** With an empty answer: from where none of the types is mirrored. */
export function lackingHint({ lacking }: AskedTypes): readonly string[] {
  return notSyncedHint('objects of these types', lacking)
}

function describe(
  { group = '', version, resource }: TypePattern,
  listable: readonly GroupResource[],
): string {
  const inVersion = version === undefined ? '' : ` in version ${apiVersionOf({ group, version })}`
  if (resource !== undefined) {
    const name = qualifiedResource({ group, resource })
    return `${shorten(name + inVersion)}${meant(name, listable.map(qualifiedResource))}`
  }
  const types = `types of group "${group}"`
  return `${shorten(types + inVersion)}${meant(
    group,
    listable.map((type) => type.group),
  )}`
}

function meant(text: string, known: readonly string[]): string {
  // What is there itself is not there in the version that was asked for.
  const likely = known.includes(text)
    ? undefined
    : nearest(
        text,
        known.filter((name) => name !== ''),
      )
  return likely === undefined ? '' : ` (did you mean "${likely}"?)`
}

function shorten(text: string): string {
  return text.slice(0, TEXT_MOST_CHARACTERS)
}
