/**
 * Clusterpedia's collection resources: several types under one name.
 *
 * Which types `any` has is said with each request: `groups=apps/v1,,batch` and
 * `resources=apps/deployments,/pods`.
 *
 * @see https://clusterpedia.io/docs/concepts/collection-resource
 */
import { BUILT_IN_GROUPS } from './built-in-groups.ts'
import { FLEET_GROUP, FLEET_VERSION } from './fleet-prefix.ts'
import { quoted } from './quoted.ts'
import { badRequest } from './status-error.ts'

export const COLLECTIONS_PREFIX = `/apis/${FLEET_GROUP}/${FLEET_VERSION}/collectionresources`
export const COLLECTION_API_VERSION = `${FLEET_GROUP}/${FLEET_VERSION}`

/** What is left out does not matter. */
export interface TypePattern {
  readonly group?: string
  readonly version?: string
  readonly resource?: string
}

export interface Collection {
  readonly name: string
  /** `as-asked`: each request says it. */
  readonly types: 'as-asked' | readonly TypePattern[]
}

const APPS = { group: 'apps', version: 'v1' }

export const COLLECTIONS: readonly Collection[] = [
  { name: 'any', types: 'as-asked' },
  {
    name: 'workloads',
    types: ['deployments', 'daemonsets', 'statefulsets'].map((resource) => ({ ...APPS, resource })),
  },
  {
    name: 'kuberesources',
    types: [...new Set(['', ...BUILT_IN_GROUPS])].sort().map((group) => ({ group })),
  },
]

/** @throws 400 `BadRequest` for patterns that are malformed, missing, or not for this collection. */
export function typesAsked({ name, types }: Collection, query: URLSearchParams) {
  const groups = query.get('groups')
  const resources = query.get('resources')
  if (types !== 'as-asked') {
    if (groups === null && resources === null) return types
    throw badRequest(`"groups" and "resources" choose the types of "any", not of ${quoted(name)}`)
  }
  if (groups === null && !resources)
    throw badRequest('url query - `groups` or `resources` is required')
  return [
    ...(groups === null ? [] : groups.split(',').map(parseGroup)),
    ...(resources ? resources.split(',').map(parseResource) : []),
  ]
}

/** `apps`, `apps/v1`, `/v1`; nothing is the core group, `*` every group. */
function parseGroup(text: string): TypePattern {
  const [group = '', version = '', ...more] = text.trim().split('/')
  if (group === '*' && version === '') return {}
  if (more.length === 0) return { group, ...(version !== '' && { version }) }
  throw badRequest(`"groups": Invalid value: ${quoted(text)}: must be a group, or group/version`)
}

/** `apps/deployments`, `/pods`, `apps/v1/deployments`. */
function parseResource(text: string): TypePattern {
  const parts = text.trim().split('/')
  const [group = '', version] = parts
  const resource = parts.at(-1)!
  if (resource !== '' && parts.length === 2) return { group, resource }
  if (resource !== '' && parts.length === 3) {
    return { group, resource, ...(version && { version }) }
  }
  throw badRequest(
    `"resources": Invalid value: ${quoted(text)}: must be group/resource, or group/version/resource`,
  )
}
