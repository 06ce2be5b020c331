/** "What may I?": the rules that speak of the reader, as `kubectl auth can-i --list` prints them. */
import { FLEET_GROUP } from '../../kube/fleet-prefix.ts'
import { StatusError } from '../../kube/status-error.ts'
import { coversNamespace, verbsOf } from '../access/rule.ts'
import { MASTERS_GROUP } from '../identity.ts'
import { type Asking, OPEN_PATHS } from './access-review.ts'

interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
}

/** @throws `BadRequest` without a namespace, as kube-apiserver does. */
export function answerRules(asking: Asking, spec: unknown) {
  const { namespace } = (spec ?? {}) as { readonly namespace?: unknown }
  if (typeof namespace !== 'string' || namespace === '') {
    throw new StatusError('BadRequest', 'no namespace on request')
  }
  const granted =
    asking.surface.kind === 'root' ? rootRules(asking) : mirrorRules(asking, namespace)
  return {
    resourceRules: [...granted, ...REVIEW_RULES],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: OPEN_PATHS }],
    // What RBAC has of paths cannot be listed.
    incomplete: asking.rights.byPath,
  }
}

/** Anyone may ask about themselves. */
const REVIEW_RULES: readonly ResourceRule[] = [
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
]

function mirrorRules({ access, identity, surface }: Asking, namespace: string) {
  const cluster = surface.kind === 'member' ? surface.cluster : undefined
  return access
    .rulesOf(identity, cluster)
    .filter((rule) => coversNamespace(rule, namespace))
    .map((rule) => ({
      verbs: verbsOf(rule),
      apiGroups: rule.apiGroups,
      resources: rule.resources,
    }))
}

/** At the root stand our own groups: `*` does not reach into the rights (registration-rights.ts). */
function rootRules({ access, identity, rootGroups }: Asking): readonly ResourceRule[] {
  if (identity.groups.includes(MASTERS_GROUP)) {
    return [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
  }
  const own = access.rulesOf(identity).flatMap((rule) => {
    const apiGroups = rootGroups.filter((group) => rule.apiGroups.includes(group))
    return apiGroups.length === 0
      ? []
      : [{ verbs: verbsOf(rule), apiGroups, resources: rule.resources }]
  })
  return [...own, { verbs: ['get', 'list'], apiGroups: [FLEET_GROUP], resources: ['*'] }]
}
