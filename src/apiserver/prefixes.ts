/** Where the three API servers that we are to our readers start: the root, the fleet, one member. */
import { FLEET_PREFIX, memberPrefix } from '../kube/fleet-prefix.ts'

/** One member cluster; a Fastify pattern with the parameter `cluster`. */
export const MEMBER_PREFIX_PATTERN = `${FLEET_PREFIX}/clusters/:cluster`

/** The API server that a request was sent to. */
export type Surface =
  | { readonly kind: 'root' }
  | { readonly kind: 'fleet' }
  | { readonly kind: 'member'; readonly cluster: string }

/** What a path on this surface starts with; `''` at the root. */
export function prefixOf(surface: Surface): string {
  switch (surface.kind) {
    case 'root':
      return ''
    case 'fleet':
      return FLEET_PREFIX
    case 'member':
      return memberPrefix(surface.cluster)
  }
}
