/**
 * "May I?": answered by the same rules that a list is.
 *
 * What no reader can do here, such as deleting a mirrored object, is answered with no and why, for
 * an administrator as well: tools hide what they are told would be refused.
 */
import { FLEET_GROUP } from '../../kube/fleet-prefix.ts'
import { attributesOf } from '../../kube/request-attributes.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { Access } from '../access/access.ts'
import type { Authorizer } from '../access/authorizer.ts'
import { READ_VERBS } from '../access/rule.ts'
import { type Identity, MASTERS_GROUP } from '../identity.ts'
import { prefixOf, type Surface } from '../prefixes.ts'

/** Who else has a say, beside the rules of FleetAccess. */
export interface ReviewedRights {
  readonly authorize: Authorizer
  /** Every path is authorised before it is served: plugins/authorize-paths.ts. */
  readonly byPath: boolean
}

export interface Asking {
  readonly access: Access
  readonly identity: Identity
  readonly surface: Surface
  /** The groups whose objects the root serves. */
  readonly rootGroups: readonly string[]
  readonly rights: ReviewedRights
}

export interface AccessAnswer {
  readonly allowed: boolean
  readonly reason?: string
}

interface ResourceAttributes {
  readonly namespace?: string
  readonly verb?: string
  readonly group?: string
  readonly version?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
}

interface NonResourceAttributes {
  readonly path?: string
  readonly verb?: string
}

/** @throws `Invalid` unless exactly one of the two kinds of attributes is given. */
export async function answerAccess(asking: Asking, spec: unknown): Promise<AccessAnswer> {
  const { resourceAttributes, nonResourceAttributes } = (spec ?? {}) as {
    readonly resourceAttributes?: ResourceAttributes
    readonly nonResourceAttributes?: NonResourceAttributes
  }
  if (!resourceAttributes === !nonResourceAttributes) throw oneOfTwo()
  if (nonResourceAttributes) return answerPath(asking, nonResourceAttributes)
  const asked = resourceAttributes ?? {}
  const isRoot = asking.surface.kind === 'root'
  const answer = isRoot ? answerRoot(asking, asked) : answerMirror(asking, asked)
  return answer.allowed && asking.rights.byPath ? answerByPath(asking, asked) : answer
}

/** What the request that is meant would be to the management cluster's RBAC. */
async function answerByPath(
  { identity, surface, rights }: Asking,
  { verb = '', group = '', version = '', resource = '', namespace, name }: ResourceAttributes,
): Promise<AccessAnswer> {
  const isAny = version === '' || version === '*'
  const api = group === '' ? '/api' : `/apis/${group}`
  const within = namespace ? `/namespaces/${namespace}` : ''
  const path = `${api}/${isAny ? 'v1' : version}${within}/${resource}${name ? `/${name}` : ''}`
  const attributes = attributesOf({
    method: 'GET',
    path: prefixOf(surface) + path,
    query: new URLSearchParams(verb === 'watch' ? { watch: 'true' } : {}),
  })
  return rights.authorize(identity, attributes)
}

function oneOfTwo(): StatusError {
  const field = 'spec.resourceAttributes'
  const message = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  const detail = `Invalid value: "": ${message}`
  return new StatusError(
    'Invalid',
    `SelfSubjectAccessReview.authorization.k8s.io "" is invalid: ${field}: ${detail}`,
    {
      details: {
        group: 'authorization.k8s.io',
        kind: 'SelfSubjectAccessReview',
        causes: [{ reason: 'FieldValueInvalid', message: detail, field }],
      },
    },
  )
}

function answerMirror(
  { access, identity, surface }: Asking,
  asked: ResourceAttributes,
): AccessAnswer {
  const { verb = '', group = '', resource = '', subresource = '', namespace = '' } = asked
  if (!READ_VERBS.includes(verb)) {
    return { allowed: false, reason: 'member clusters can only be read here: get, list and watch' }
  }
  if (subresource !== '') {
    return { allowed: false, reason: 'subresources are not mirrored' }
  }
  const cluster = surface.kind === 'member' ? surface.cluster : undefined
  return {
    allowed: access.allows(identity, {
      ...{ verb, group, resource, namespace },
      ...(cluster !== undefined && { cluster }),
    }),
  }
}

function answerRoot(
  { access, identity, rootGroups }: Asking,
  asked: ResourceAttributes,
): AccessAnswer {
  const { verb = '', group = '', resource = '', name = '' } = asked
  if (identity.groups.includes(MASTERS_GROUP)) return { allowed: true }
  if (group === FLEET_GROUP) return { allowed: verb === 'get' || verb === 'list' }
  if (!rootGroups.includes(group)) {
    return { allowed: false, reason: 'member clusters are read under the prefix of the fleet' }
  }
  try {
    access.authorizeRegistration(identity, { verb, group, resource, ...(name && { name }) })
    return { allowed: true }
  } catch (error) {
    if (error instanceof StatusError) return { allowed: false }
    throw error
  }
}

/** Paths that every authenticated reader may GET; what they find there depends on their rules. */
export const OPEN_PATHS: readonly string[] = [
  ...['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*'],
  ...['/readyz', '/version', '/version/'],
]

async function answerPath(
  { identity, rights }: Asking,
  { path = '', verb = '' }: NonResourceAttributes,
): Promise<AccessAnswer> {
  if (verb !== 'get' && verb !== 'head') return { allowed: false }
  if (path === '/metrics' || rights.byPath) return rights.authorize(identity, { verb, path })
  const allowed = OPEN_PATHS.some((open) =>
    open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open,
  )
  return { allowed: allowed || path === '/' }
}
