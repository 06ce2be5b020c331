/**
 * `spec.authenticationFrom` → the credentials themselves, from Secrets of our own namespace, so that
 * everything behind it knows one way to write credentials only.
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { UNRESOLVED_ANNOTATION } from '../kube/pedia-cluster.ts'
import { field, isObject, withField, withPath } from '../registration/json-text.ts'
import type { ObjectName } from './follow-objects.ts'

export interface KnownSecrets {
  readonly namespace: string
  /** By `namespace/name`. */
  readonly secrets: ReadonlyMap<ObjectName, JsonObject>
}

/** Where each Secret's value goes; both are base64. */
const FIELDS = {
  kubeconfig: 'kubeconfig',
  ca: 'caData',
  token: 'tokenData',
  cert: 'certData',
  key: 'keyData',
} as const

/** Whether Secrets must be known to say how the cluster is reached. */
export function needsSecrets(cluster: JsonObject): boolean {
  return isObject(field(cluster, 'spec', 'authenticationFrom'))
}

/**
 * The PediaCluster as if its credentials stood in it. One that names a Secret or key that is not
 * there has none, and an annotation that says which.
 */
export function resolveCredentials(cluster: JsonObject, known: KnownSecrets): JsonObject {
  const from = field(cluster, 'spec', 'authenticationFrom')
  const bare = withPath(cluster, ['metadata', 'annotations', UNRESOLVED_ANNOTATION], undefined)
  const own = field(cluster, 'metadata', 'annotations', UNRESOLVED_ANNOTATION)
  const clean = own === undefined ? cluster : bare
  if (!isObject(from)) return clean
  let resolved = withPath(clean, ['spec', 'authenticationFrom'], undefined)
  for (const [name, target] of Object.entries(FIELDS)) {
    const reference = from[name]
    if (!isObject(reference)) continue
    const value = secretValue(reference, known)
    if ('problem' in value)
      return unresolved(clean, `spec.authenticationFrom.${name}: ${value.problem}`)
    resolved = withPath(resolved, ['spec', target], value.base64)
  }
  return resolved
}

function secretValue(
  reference: JsonObject,
  { namespace, secrets }: KnownSecrets,
): { readonly base64: string } | { readonly problem: string } {
  const { name, key } = reference
  const secret = secrets.get(`${namespace}/${String(name)}`)
  const shown = `the Secret ${JSON.stringify(name)} in the namespace ${namespace}`
  if (!secret) return { problem: `${shown} does not exist` }
  const value: Json | undefined = field(secret, 'data', String(key))
  if (typeof value !== 'string' || value === '') {
    return { problem: `${shown} has nothing under the key ${JSON.stringify(key)}` }
  }
  return { base64: value }
}

/** Without any credentials: half of them would be tried on the member. */
function unresolved(cluster: JsonObject, problem: string): JsonObject {
  const spec = Object.values(FIELDS).reduce(
    (left, name) => withField(left, name, undefined),
    field(cluster, 'spec') as JsonObject,
  )
  return withPath({ ...cluster, spec }, ['metadata', 'annotations', UNRESOLVED_ANNOTATION], problem)
}
