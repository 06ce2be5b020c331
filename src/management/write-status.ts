/** The status of a PediaCluster, written to the management cluster by server-side apply. */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { field, sameJson } from '../registration/json-text.ts'
import { metadataOf } from '../registration/lifecycle.ts'
import { APPLY_PATCH, type ManagementClient } from './client.ts'
import { hasStatus, orMissing } from './management-error.ts'
import { FIELD_MANAGER, PEDIA_CLUSTER_TYPE, PEDIA_CLUSTERS } from './pedia-clusters.ts'

export interface ApplyStatusRequest {
  readonly name: string
  readonly uid: string
  /** JSON. */
  readonly status: Json
  /** Rejects when another process speaks for the cluster now: asked after reading, before writing. */
  readonly check: () => Promise<void>
}

const ATTEMPTS = 5

/**
 * Writes nothing when the status is like that already, and only over the state that was read: a
 * write of somebody else in between is read first.
 *
 * @returns false when there is no such PediaCluster any more.
 * @throws ManagementError
 */
export async function applyStatus(
  client: ManagementClient,
  request: ApplyStatusRequest,
): Promise<boolean> {
  const { name, uid, status, check } = request
  for (let attempt = 1; ; attempt++) {
    const live = await read(client, name)
    if (!live || metadataOf(live).uid !== uid) return false
    if (sameJson(field(live, 'status'), status)) return true
    await check()
    try {
      await apply(client, { name, uid, status, resourceVersion: metadataOf(live).resourceVersion })
      return true
    } catch (error) {
      if (hasStatus(error, 404)) return false
      if (!hasStatus(error, 409) || attempt === ATTEMPTS) throw error
    }
  }
}

async function read(client: ManagementClient, name: string): Promise<JsonObject | undefined> {
  const answer = await orMissing(client.request('GET', `${PEDIA_CLUSTERS}/${name}`))
  return answer?.body as JsonObject | undefined
}

interface Patch extends Omit<ApplyStatusRequest, 'check'> {
  readonly resourceVersion: Json | undefined
}

/** Forced: what is said of the mirror is ours, whoever said it before. */
async function apply(
  client: ManagementClient,
  { name, uid, status, resourceVersion }: Patch,
): Promise<void> {
  await client.request('PATCH', `${PEDIA_CLUSTERS}/${name}/status`, {
    body: {
      ...PEDIA_CLUSTER_TYPE,
      metadata: { name, uid, resourceVersion },
      status,
    },
    contentType: APPLY_PATCH,
    query: { fieldManager: FIELD_MANAGER, force: 'true' },
  })
}
