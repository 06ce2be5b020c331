/** Clusters in a sentence: the first five by name, the rest counted, so that it stays one. */

const CLUSTERS_NAMED = 5

/** `dot-01, dot-02 and 55 more`. @param clusters - as the sentence is to show each. */
export function namedClusters(clusters: readonly string[]): string {
  const more = clusters.length - CLUSTERS_NAMED
  const rest = more > 0 ? ` and ${more} more` : ''
  return clusters.slice(0, CLUSTERS_NAMED).join(', ') + rest
}
