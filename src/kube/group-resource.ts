/**
 * How Kubernetes names a type: group, version, resource (plural), kind.
 *
 * The core group is the empty string, here as on the wire.
 */

export interface GroupResource {
  /** `''` for the core group. */
  readonly group: string
  /** Lower-case plural: `pods`. */
  readonly resource: string
}

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface GroupVersionResource extends GroupResource, GroupVersion {}

/** What discovery says of one resource under one group version. Subresources are never in here. */
export interface ResourceInfo extends GroupVersionResource {
  readonly kind: string
  readonly singularName: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

/** `apps/v1`, or `v1` for the core group: what objects carry as `apiVersion`. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** The reverse of {@link apiVersionOf}. Anything without a slash is a version of the core group. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** `apis/apps/v1`, or `api/v1`: where a group version is served, and how /openapi/v3 names it. */
export function groupVersionPath(of: GroupVersion): string {
  return `${of.group === '' ? 'api' : 'apis'}/${apiVersionOf(of)}`
}

/** `deployments.apps`, or `pods`: how kubectl and error messages write a group resource. */
export function qualifiedResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}
