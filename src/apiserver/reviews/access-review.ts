/**
 * "May I?": answered by the same rules that a list is.
 *
 * What no reader can do here, such as deleting a mirrored object, is answered with no and why, for
 * an administrator as well: tools hide what they are told would be refused.
 */
import { FLEET_GROUP } from '../../kube/fleet-prefix.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { Access } from '../access/access.ts'
import { READ_VERBS } from '../access/rule.ts'
import { mayReadMetrics } from '../health/metrics-rights.ts'
import { type Identity, MASTERS_GROUP } from '../identity.ts'
import type { Surface } from '../prefixes.ts'

export interface Asking {
  readonly access: Access
  readonly identity: Identity
  readonly surface: Surface
  /** The groups whose objects the root serves. */
  readonly rootGroups: readonly string[]
}

export interface AccessAnswer {
  readonly allowed: boolean
  readonly reason?: string
}

interface ResourceAttributes {
  readonly namespace?: string
  readonly verb?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
}

interface NonResourceAttributes {
  readonly path?: string
  readonly verb?: string
}

/** @throws `Invalid` unless exactly one of the two kinds of attributes is given. */
export function answerAccess(asking: Asking, spec: unknown): AccessAnswer {
  const { resourceAttributes, nonResourceAttributes } = (spec ?? {}) as {
    readonly resourceAttributes?: ResourceAttributes
    readonly nonResourceAttributes?: NonResourceAttributes
  }
  if (!resourceAttributes === !nonResourceAttributes) throw oneOfTwo()
  if (nonResourceAttributes) return answerPath(asking, nonResourceAttributes)
  const asked = resourceAttributes ?? {}
  return asking.surface.kind === 'root' ? answerRoot(asking, asked) : answerMirror(asking, asked)
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

function answerMirror({ access, identity, surface }: Asking, asked: ResourceAttributes) {
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

function answerRoot({ access, identity, rootGroups }: Asking, asked: ResourceAttributes) {
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

function answerPath({ identity }: Asking, { path = '', verb = '' }: NonResourceAttributes) {
  if (verb !== 'get' && verb !== 'head') return { allowed: false }
  if (path === '/metrics') return { allowed: mayReadMetrics(identity) }
  const allowed = OPEN_PATHS.some((open) =>
    open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open,
  )
  return { allowed: allowed || path === '/' }
}
