/** Which types a member serves, and the ones its CustomResourceDefinitions add. */
import {
  apiVersionOf,
  type GroupResource,
  type GroupVersion,
  type ResourceInfo,
} from '../../kube/group-resource.ts'
import { storedAs } from '../../kube/moved-resources.ts'
import { storageKey } from './object-history.ts'

export interface Subresource {
  readonly name: string
  readonly kind: string
  readonly verbs: readonly string[]
  /** When it answers with a kind of another group, as `pods/eviction` does. */
  readonly group?: string
  readonly version?: string
}

export interface MemberResource extends ResourceInfo {
  /** A custom resource: list items carry `kind` and `apiVersion`, list kinds can be any. */
  readonly custom?: boolean
  readonly listKind?: string
  readonly subresources?: readonly Subresource[]
  /** Objects kept for another version, put into the form of this one. */
  readonly convert?: (text: Buffer) => Buffer
}

/** The parts of a CustomResourceDefinition, apiextensions.k8s.io/v1, that say what it serves. */
export interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: {
      readonly plural: string
      readonly kind: string
      readonly singular?: string
      readonly listKind?: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly versions: ReadonlyArray<{
      readonly name: string
      readonly served: boolean
      readonly subresources?: { readonly status?: unknown; readonly scale?: unknown }
    }>
  }
}

const CUSTOM_VERBS = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]

/** One resource per served version. */
export function resourcesOfDefinition(crd: CustomResourceDefinition): MemberResource[] {
  const { group, scope, names, versions } = crd.spec
  const served = versions.filter((version) => version.served)
  return served.map((version) => ({
    group,
    version: version.name,
    resource: names.plural,
    kind: names.kind,
    singularName: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    verbs: CUSTOM_VERBS,
    custom: true,
    subresources: version.subresources?.status
      ? [{ name: 'status', kind: names.kind, verbs: ['get', 'patch', 'update'] }]
      : [],
  }))
}

export class ServedResources {
  #resources: MemberResource[]

  constructor(resources: readonly MemberResource[]) {
    this.#resources = [...resources]
  }

  all(): readonly MemberResource[] {
    return this.#resources
  }

  add(resource: MemberResource): void {
    this.remove(resource)
    this.#resources.push(resource)
  }

  /** Takes away one version. */
  remove({ group, version, resource }: GroupVersion & GroupResource): void {
    this.#resources = this.#resources.filter(
      (present) =>
        present.group !== group || present.version !== version || present.resource !== resource,
    )
  }

  find({ group, version, resource }: GroupVersion & GroupResource): MemberResource | undefined {
    return this.#resources.find(
      (present) =>
        present.group === group && present.version === version && present.resource === resource,
    )
  }

  /** The first one served of that type in any version: what its objects are kept as. */
  anyVersion(type: GroupResource): MemberResource | undefined {
    const key = storageOf(type)
    return this.#resources.find(
      (present) => present.resource === type.resource && storageOf(present) === key,
    )
  }

  ofKind(apiVersion: string, kind: string): MemberResource | undefined {
    return this.#resources.find(
      (present) => apiVersionOf(present) === apiVersion && present.kind === kind,
    )
  }

  /** Groups in the order they were added, each with its versions, newest and most stable first. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, string[]>()
    for (const { group, version } of this.#resources) {
      const versions = groups.get(group) ?? []
      if (!versions.includes(version)) versions.push(version)
      groups.set(group, versions)
    }
    for (const versions of groups.values()) versions.sort(newestFirst)
    return groups
  }

  in({ group, version }: GroupVersion): MemberResource[] {
    return this.#resources.filter(
      (resource) => resource.group === group && resource.version === version,
    )
  }
}

/** Types that Kubernetes moved between groups are kept once. */
export function storageOf(type: GroupResource): string {
  return storageKey(storedAs(type))
}

const STABILITY = { alpha: 1, beta: 2, stable: 3 } as const

/** v2 before v1 before v2beta1 before v1beta2 before v1alpha1: apimachinery's version order. */
export function newestFirst(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)]
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor
}

function rank(version: string) {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (!match) return { stability: 0, major: 0, minor: 0 }
  const stability = STABILITY[(match[2] ?? 'stable') as keyof typeof STABILITY]
  return { stability, major: Number(match[1]), minor: Number(match[3] ?? 0) }
}
