/** Registrations of a management cluster, for syncers: states from our store, statuses to both. */
import type { Json } from '../kube/kube-object.ts'
import type { PediaClusterStatus } from '../kube/pedia-cluster.ts'
import { databaseRegistrationSource } from '../registration/database-source.ts'
import { storedStatus, storeStatus } from '../registration/mirror-registrations.ts'
import type { RegistrationSource, StatusWrite } from '../registration/registration-source.ts'
import type { Registrations } from '../registration/registrations.ts'
import { checkLease } from '../store/leases.ts'
import type { ManagementClient } from './client.ts'
import { type EventRecorder, newsIn } from './cluster-events.ts'
import { applyStatus } from './write-status.ts'

export interface ManagementSourceParts {
  readonly client: ManagementClient
  readonly registrations: Registrations
  readonly events: EventRecorder
}

/** Another controller, or a hand, may overwrite it: it is compared again after this long. */
const STATUS_STANDS_MILLISECONDS = 300_000

/** The store is kept in line with the management cluster by registration-controller.ts. */
export function managementRegistrationSource(parts: ManagementSourceParts): RegistrationSource {
  const { states } = databaseRegistrationSource(parts.registrations)
  return {
    states,
    writeStatus: (write) => writeStatus(parts, write),
    statusStandsMilliseconds: STATUS_STANDS_MILLISECONDS,
  }
}

async function writeStatus(
  { client, registrations, events }: ManagementSourceParts,
  write: StatusWrite,
): Promise<void> {
  const { context } = registrations
  const { name, uid, lease } = write
  const stored = await storedStatus(context, write)
  if (!stored) return
  const status = JSON.parse(JSON.stringify(write.status)) as Json
  const check = () => checkLease(context.store.db, lease)
  if (!(await applyStatus(client, { name, uid, status, check }))) return
  await storeStatus(context, write)
  const before = stored.status as unknown as PediaClusterStatus | undefined
  await events.record({ name, uid }, newsIn(before, write.status))
}
