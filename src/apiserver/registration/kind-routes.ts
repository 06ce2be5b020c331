/** What the routes of one kind work with, and who may use them. */
import type { Clock } from '../../clock.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import type { RegistrationKind } from '../../registration/kinds.ts'
import type { Subresource } from '../../registration/lifecycle.ts'
import type { Registrations } from '../../registration/registrations.ts'
import type { Access } from '../access/access.ts'
import type { Exchange } from '../exchange.ts'
import type { Identity } from '../identity.ts'

export interface RegistrationRoutesOptions {
  readonly registrations: Registrations
  /** Throws 403, or tells which names the reader may see. */
  readonly authorize: Access['authorizeRegistration']
  readonly clock: Clock
  /** What a reader may do; a watch ends when it is another value. */
  readonly rightsOf: (identity: Identity) => unknown
  /** Waited for before PediaClusters are sent: what they say must hold for whoever reads it. */
  readonly untilKnown: (clusters: readonly JsonObject[]) => Promise<void>
}

export interface KindRoutes extends RegistrationRoutesOptions {
  readonly kind: RegistrationKind
  /** Aborted when the server stops, so that watches end. */
  readonly stopping: AbortSignal
}

export interface ObjectPath {
  readonly name: string
  readonly subresource: Subresource
}

/**
 * @returns which names the reader may see.
 * @throws 403
 */
export function authorized(
  { authorize, kind }: KindRoutes,
  { request }: Exchange,
  { verb, path }: { readonly verb: string; readonly path?: ObjectPath },
): (name: string) => boolean {
  const { group, resource } = kind
  return authorize(request.identity, {
    verb,
    group,
    resource: path?.subresource ? `${resource}/${path.subresource}` : resource,
    ...(path && { name: path.name }),
  })
}
