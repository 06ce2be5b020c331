/** What a syncer does beside syncing when registrations live in a management cluster. */
import { hostname } from 'node:os'
import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import type { ManagementClient } from '../../management/client.ts'
import { createEventRecorder } from '../../management/cluster-events.ts'
import { stand } from '../../management/lead.ts'
import { createRegistrationController } from '../../management/registration-controller.ts'
import { managementRegistrationSource } from '../../management/registration-source.ts'
import type { RegistrationSource } from '../../registration/registration-source.ts'
import type { Registrations } from '../../registration/registrations.ts'
import type { FollowLimits } from '../../sync/list-watch.ts'
import type { WorkQueues } from '../../sync/work-queue.ts'

export interface ControllersParts {
  readonly client: ManagementClient
  readonly registrations: Registrations
  /** Of this process, unique in the fleet. */
  readonly holder: string
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<FollowLimits>
  /** Left out: nothing is counted. */
  readonly observed?: { readonly registry: Registry; readonly queues: WorkQueues }
}

export interface Controllers {
  readonly source: RegistrationSource
  /** Why registrations are not followed; undefined while they are, by this process or another. */
  readonly trouble: string | undefined
  stop(): Promise<void>
}

const LEASE = 'fleetglass-controllers'

/** Of several syncers one follows the registrations; all of them write the statuses of theirs. */
export function startControllers(parts: ControllersParts): Controllers {
  const { client, registrations, holder, clock, log, limits, observed } = parts
  const { context } = registrations
  const controller = createRegistrationController({
    ...{ client, context, clock, log },
    ...(limits && { limits }),
    ...(observed && { queue: observed.queues.named('registrations') }),
  })
  const standing = { leads: false }
  const candidate = stand(
    { client, name: LEASE, identity: holder, clock, log },
    async (leadership) => {
      standing.leads = true
      try {
        await controller.run(leadership)
      } finally {
        standing.leads = false
      }
    },
  )
  if (observed) tellWhoLeads(observed.registry, () => standing.leads)
  const events = createEventRecorder({ client, instance: hostname(), clock, log })
  return {
    source: managementRegistrationSource({ client, registrations, events }),
    get trouble() {
      return candidate.trouble ?? controller.trouble
    },
    stop: () => candidate.stop(),
  }
}

/** client-go's name for it. */
export function tellWhoLeads(registry: Registry, leads: () => boolean): void {
  new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process holds the Lease',
    labelNames: ['name'],
    registers: [registry],
    collect() {
      this.set({ name: LEASE }, leads() ? 1 : 0)
    },
  })
}
