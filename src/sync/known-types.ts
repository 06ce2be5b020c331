/** The types a member serves, remembered where its discovery has gaps. */
import { apiVersionOf, parseApiVersion, type ResourceInfo } from '../kube/group-resource.ts'
import type { StoredClusterResource } from '../store/cluster-resources.ts'
import type { Discovery } from './discover.ts'

export class KnownTypes {
  /** By apiVersion and resource. */
  #byVersion = new Map<string, Map<string, ResourceInfo>>()
  #broken: ReadonlySet<string> = new Set()

  /** What an earlier process knew: for groups whose discovery is broken from the start. */
  constructor(stored: readonly StoredClusterResource[]) {
    for (const one of stored) {
      const { group, version } = parseApiVersion(one.apiVersion)
      const { resource, kind, singularName, shortNames, categories, namespaced } = one
      const verbs = ['list', 'watch']
      const names = { resource, kind, singularName, shortNames, categories, namespaced, verbs }
      this.#add({ group, version, ...names })
    }
  }

  /** Every group version that answered replaces what was known of it; a broken one keeps it. */
  learn(discovery: Discovery): void {
    const before = this.#byVersion
    this.#byVersion = new Map()
    this.#broken = discovery.broken
    for (const info of discovery.resources) this.#add(info)
    for (const [apiVersion, infos] of before) {
      if (this.#byVersion.has(apiVersion) || !this.#isBroken(apiVersion)) continue
      this.#byVersion.set(apiVersion, infos)
    }
  }

  get served(): readonly ResourceInfo[] {
    return [...this.#byVersion.values()].flatMap((infos) => [...infos.values()])
  }

  /** Whether one of these apiVersions may be served although discovery does not show it. */
  mayServe(apiVersions: readonly string[]): boolean {
    return apiVersions.some((apiVersion) => this.#isBroken(apiVersion))
  }

  #isBroken(apiVersion: string): boolean {
    return this.#broken.has(apiVersion) || this.#broken.has(parseApiVersion(apiVersion).group)
  }

  /** What a document says twice is served once, as it says it first. */
  #add(info: ResourceInfo): void {
    const apiVersion = apiVersionOf(info)
    const known = this.#byVersion.get(apiVersion) ?? new Map<string, ResourceInfo>()
    if (!known.has(info.resource)) known.set(info.resource, info)
    if (known.size === 1) this.#byVersion.set(apiVersion, known)
  }
}
