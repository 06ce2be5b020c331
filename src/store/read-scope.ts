/**
 * What one reader may see of one type: part of every query, and never left out.
 *
 * Made from a reader's FleetAccess (apiserver/access/), narrowed by what the request asks for.
 */

/** A cluster that the reader may see, with the namespaces of it. */
export interface ScopedCluster {
  readonly id: number
  readonly name: string
  /** Spelled out, because "an empty list means everything" is how data leaks. */
  readonly namespaces: 'every-namespace' | readonly string[]
}

/** Sorted by cluster name in byte order; that is the order of answers. Empty: nothing is visible. */
export type ReadScope = readonly ScopedCluster[]
