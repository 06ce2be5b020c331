/**
 * `…/resources/clusters?types=pods,deployments.apps`: how the mirrors of the reader's clusters are.
 *
 * For sweeps and comparisons by a kubeconfig: readers may not list PediaClusters where these are
 * objects of a management cluster, and a PediaCluster does not tell what of it a reader may see.
 */
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../clock.ts'
import type { MirrorWishes } from '../fleet/mirrored-cluster.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import { MIRROR_STATES_PATH, mirrorStatesDocument, type ToldMirror } from '../kube/mirror-state.ts'
import { storedAs } from '../kube/moved-resources.ts'
import { StatusError } from '../kube/status-error.ts'
import type { ScopedCluster } from '../store/read-scope.ts'
import type { Access } from './access/access.ts'
import type { CatalogCluster } from './catalog.ts'
import type { Identity } from './identity.ts'
import { targetOf } from './request-target.ts'
import { JsonDocument, sendDocument } from './send-document.ts'

export interface MirrorStatesOptions {
  readonly access: Access
  readonly clock: Clock
  /** What registrations ask to be mirrored: which tells what a cluster does not serve. */
  readonly wishes: () => Promise<(cluster: string) => MirrorWishes | undefined>
}

/** Of each the rights to all clusters are looked up. */
const TYPES_MOST = 64

/** Fastify plugin. */
export async function mirrorStates(
  server: FastifyInstance,
  { access, clock, wishes }: MirrorStatesOptions,
): Promise<void> {
  server.get(MIRROR_STATES_PATH, async (request, reply) => {
    const types = typesIn(targetOf(request).query)
    const wishesOf = await wishes()
    const scopes = types.map((type) => scopeOf(access, request.identity, type))
    const asked = types.map((type, i) => ({ type, scope: scopes[i]! }))
    const clusters = access
      .visible(request.identity)
      .map(({ cluster }) => toldOf(cluster, asked, wishesOf(cluster.name)))
    const document = mirrorStatesDocument({ now: clock.now(), clusters })
    return sendDocument({ request, reply }, new JsonDocument(document))
  })
}

/** @throws 400 */
function typesIn(query: URLSearchParams): readonly GroupResource[] {
  const other = [...query.keys()].find((key) => key !== 'types' && key !== 'pretty')
  if (other !== undefined) {
    throw new StatusError('BadRequest', `unknown query parameter ${JSON.stringify(other)}`)
  }
  const texts = (query.get('types') ?? '').split(',').filter((text) => text !== '')
  if (texts.length > TYPES_MOST) {
    throw new StatusError('BadRequest', `"types": Too many: must have at most ${TYPES_MOST} items`)
  }
  return texts.map((text) => {
    const dot = `${text}.`.indexOf('.')
    return storedAs({ group: text.slice(dot + 1), resource: text.slice(0, dot) })
  })
}

type Scope = ReadonlyMap<number, ScopedCluster>

/** By id of the cluster; empty when no rule grants the type anywhere. */
function scopeOf(access: Access, identity: Identity, type: GroupResource): Scope {
  try {
    const scope = access.scope(identity, { ...type, verb: 'list', clusters: 'every-cluster' })
    return new Map(scope.map((scoped) => [scoped.id, scoped]))
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'Forbidden') return new Map()
    throw error
  }
}

interface AskedType {
  readonly type: GroupResource
  readonly scope: Scope
}

function toldOf(
  cluster: CatalogCluster,
  asked: readonly AskedType[],
  wishes: MirrorWishes | undefined,
): ToldMirror {
  const { id, name, labels, version, staleReason, staleSince, syncerSeenAt, resources } = cluster
  const isForbidden = ({ scope }: AskedType) => !scope.has(id)
  const typeIn = ({ group, resource }: GroupResource) =>
    resources.find((one) => one.group === group && one.resource === resource)
  const allowed = asked.filter((one) => !isForbidden(one))
  return {
    ...{ name, labels, version, staleReason, staleSince, syncerSeenAt },
    forbidden: asked.filter(isForbidden).map(({ type }) => type),
    unserved: allowed.map(({ type }) => type).filter((one) => !typeIn(one) && wishes?.wants(one)),
    resources: allowed.flatMap(({ type, scope }) => {
      const found = typeIn(type)
      if (!found) return []
      const { status, reason, message, apiVersion, position, namespaced } = found
      const seen = namespacesSeen(scope.get(id)!, wishes)
      return {
        ...{ ...type, status, reason, message, apiVersion },
        ...(position && { position }),
        ...(namespaced && seen && { namespaces: seen }),
      }
    }),
  }
}

/** Mirrored and to be seen. Undefined: all of them. */
function namespacesSeen(
  { namespaces }: ScopedCluster,
  wishes: MirrorWishes | undefined,
): readonly string[] | undefined {
  const mirrored = wishes?.namespaces
  if (namespaces === 'every-namespace') return mirrored
  return mirrored ? namespaces.filter((one) => mirrored.includes(one)) : namespaces
}
