/** The images of one cluster by repository: the set of what runs, never only the last one seen. */
import { parseImageReference, type UnusableImage } from './image-reference.ts'
import type { ContainerImage, Role } from './pod-images.ts'

/** What is known of one token of one repository in one cluster. */
export interface TokenUse {
  readonly token: string
  /** True: the token is a digest, written beside the image. */
  readonly pinned: boolean
  /** As written; of a pinned image there may be several, or none. */
  readonly tags: ReadonlySet<string>
  /** What registries resolved it to, by the architecture of the node; `''` when that is not known. */
  readonly resolved: ReadonlyMap<string, ReadonlySet<string>>
  /** Containers of which it is not known what was pulled. */
  readonly unresolved: number
  readonly containers: number
  readonly namespaces: ReadonlySet<string>
  readonly roles: ReadonlySet<Role>
  /** A Deployment that uses it is between two templates. */
  readonly rollingOut: boolean
}

export type RepositoryUse = ReadonlyMap<string, TokenUse>

export interface ImageFacts {
  /** By `registry/path`. */
  readonly repositories: ReadonlyMap<string, RepositoryUse>
  /** What cannot be compared, by its text. */
  readonly unusable: ReadonlyMap<string, UnusableImage['kind']>
}

export interface ContainerPlace {
  readonly namespace: string
  readonly architecture?: string | undefined
  readonly rollingOut?: boolean
}

interface MutableUse {
  token: string
  pinned: boolean
  tags: Set<string>
  resolved: Map<string, Set<string>>
  unresolved: number
  containers: number
  namespaces: Set<string>
  roles: Set<Role>
  rollingOut: boolean
}

export interface InventoryOptions {
  /** Another key for the same image: for mirrors of a registry. */
  readonly rename?: (key: string) => string
}

export class ImageInventory implements ImageFacts {
  readonly repositories = new Map<string, Map<string, MutableUse>>()
  readonly unusable = new Map<string, UnusableImage['kind']>()
  readonly #rename: (key: string) => string

  constructor({ rename = (key) => key }: InventoryOptions = {}) {
    this.#rename = rename
  }

  add(container: ContainerImage, place: ContainerPlace): void {
    const image = parseImageReference(container.image)
    if (image.kind !== 'reference') {
      this.unusable.set(image.raw, image.kind)
      return
    }
    const use = this.#useOf(this.#rename(image.key), image.token, image.digest !== undefined)
    use.containers++
    if (image.tag !== undefined || !use.pinned) use.tags.add(image.tag ?? 'latest')
    use.namespaces.add(place.namespace)
    use.roles.add(container.role)
    use.rollingOut ||= place.rollingOut ?? false
    const digest = image.digest ?? container.resolved
    if (digest === undefined) use.unresolved++
    else addTo(use.resolved, place.architecture ?? '', digest)
  }

  #useOf(key: string, token: string, pinned: boolean): MutableUse {
    const repository = this.repositories.get(key) ?? new Map<string, MutableUse>()
    this.repositories.set(key, repository)
    const use = repository.get(token) ?? {
      ...{ token, pinned, unresolved: 0, containers: 0, rollingOut: false },
      ...{ tags: new Set(), resolved: new Map(), namespaces: new Set(), roles: new Set() },
    }
    repository.set(token, use)
    return use
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const known = sets.get(key)
  if (known) known.add(value)
  else sets.set(key, new Set([value]))
}

/**
 * Renames what is below one prefix to be below another.
 *
 * @param mirrors - `eu.registry.example/x` → `us.registry.example/x`.
 */
export function renameMirrors(mirrors: ReadonlyMap<string, string>): (key: string) => string {
  // The longest first, so that an exception to a whole registry's rule wins.
  const rules = [...mirrors].sort(([a], [b]) => b.length - a.length)
  return (key) => {
    const rule = rules.find(([from]) => key === from || key.startsWith(`${from}/`))
    return rule ? rule[1] + key.slice(rule[0].length) : key
  }
}
