/**
 * Said with an empty answer: nothing was found, but not everywhere was there anything to look at.
 *
 * Of clusters that the reader may see only. A type that is mirrored from none is a 404 already.
 */
import { type GroupResource, qualifiedResource } from '../../kube/group-resource.ts'
import { namedClusters } from '../named-clusters.ts'

/** Names have at most 253 characters; what goes through every proxy has less. */
const NAME_MOST_CHARACTERS = 120

/** A sentence, or none. */
export function notSyncedHint(type: GroupResource, lacking: readonly string[]): readonly string[] {
  if (lacking.length === 0) return []
  const clusters = namedClusters(lacking.map((name) => name.slice(0, NAME_MOST_CHARACTERS)))
  return [`no ${qualifiedResource(type)} were found; they are not synced from ${clusters}`]
}
