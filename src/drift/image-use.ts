/** One repository in one cluster, as it is reported. */
import type { RepositoryUse } from './image-inventory.ts'
import { sortedTexts } from './order.ts'
import { ROLES, type Role } from './pod-images.ts'

export interface ImageUse {
  readonly cluster: string
  /** What is pulled: digests of pinned images, tags of others; in byte order. */
  readonly tokens: readonly string[]
  /** As written; of a pinned image for display only. */
  readonly tags: readonly string[]
  /** What registries resolved the tags to, as far as known, and the digests of pinned images. */
  readonly digests: readonly string[]
  /** Two tokens or more at once. */
  readonly mixed: boolean
  readonly rollingOut: boolean
  readonly roles: readonly Role[]
  readonly containers: number
  readonly namespaces: number
}

export function clusterUse(cluster: string, use: RepositoryUse): ImageUse {
  const all = [...use.values()]
  const roles = new Set(all.flatMap((one) => [...one.roles]))
  return {
    cluster,
    tokens: sortedTexts(use.keys()),
    tags: sortedTexts(new Set(all.flatMap(({ tags }) => [...tags]))),
    digests: sortedTexts(
      new Set(all.flatMap(({ resolved }) => [...resolved.values()].flatMap((found) => [...found]))),
    ),
    mixed: use.size > 1,
    rollingOut: all.some(({ rollingOut }) => rollingOut),
    roles: ROLES.filter((role) => roles.has(role)),
    containers: all.reduce((sum, { containers }) => sum + containers, 0),
    namespaces: new Set(all.flatMap(({ namespaces }) => [...namespaces])).size,
  }
}
