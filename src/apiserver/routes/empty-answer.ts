/**
 * Said with an empty answer: why there may be nothing, beyond that nothing was found.
 *
 * The rule: what a question names and the server can know must not be wrong in silence: clusters
 * (absent-clusters.ts, with every answer), types, owners, fields. Labels, names and namespaces are
 * data: that there are none such is the answer itself. Clusters and types are those that the reader
 * may see; a type that is mirrored from none of these is a 404 already.
 */
import { qualifiedResource } from '../../kube/group-resource.ts'
import type { Search } from '../../kube/search.ts'
import { namedClusters } from '../named-clusters.ts'
import type { ObjectView } from '../objects.ts'
import type { Asked } from './asked.ts'
import { neededFieldHints } from './field-hints.ts'

export interface EmptyAnswer {
  readonly asked: Asked
  readonly search: Search
  /** What was said of the owners that were looked up. */
  readonly ownerHints: readonly string[]
  readonly objects: Pick<ObjectView, 'absentFields'>
}

/** Sentences. */
export async function emptyAnswerHints(parts: EmptyAnswer): Promise<readonly string[]> {
  const { asked, search, ownerHints } = parts
  return [
    ...notSyncedHint(qualifiedResource(asked.type), asked.lacking),
    ...versionHint(asked),
    ...ownerHints,
    ...(await neededFieldHints(fieldsAsked(parts), search)),
  ]
}

/** What is looked at for {@link neededFieldHints} and the like. */
export function fieldsAsked({ asked, objects }: Pick<EmptyAnswer, 'asked' | 'objects'>) {
  const { type, scope } = asked
  return { objects, scopes: [{ types: [type], scope }], what: qualifiedResource(type) }
}

/** @param what - `services`, as the sentence calls what was asked for. */
export function notSyncedHint(what: string, lacking: readonly string[]): readonly string[] {
  if (lacking.length === 0) return []
  return [`no ${what} were found; they are not synced from ${named(lacking)}`]
}

function versionHint({ otherVersions, apiVersion }: Asked): readonly string[] {
  if (otherVersions.length === 0) return []
  const clusters = named(otherVersions)
  return [`not in version ${apiVersion}, strictVersion=true leaves out ${clusters}`]
}

/** Names have at most 253 characters; what goes through every proxy has less. */
const NAME_MOST_CHARACTERS = 120

function named(clusters: readonly string[]): string {
  return namedClusters(clusters.map((name) => name.slice(0, NAME_MOST_CHARACTERS)))
}
