/** Registrations from our own store: the source of standalone installations. */
import { ACCESS_GROUP, type FleetAccess } from '../kube/fleet-access.ts'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import {
  CLUSTER_GROUP,
  type ClusterSyncResources,
  type PediaCluster,
  withSpec,
} from '../kube/pedia-cluster.ts'
import { StatusError } from '../kube/status-error.ts'
import { checkLease } from '../store/leases.ts'
import { allRegistrations, readRegistration, writeRegistrations } from '../store/registrations.ts'
import { NO_SECRETS, openedSecrets, reveal, sealingContext, secretFieldsOf } from './credentials.ts'
import { field, formatJson, sameJson, withField } from './json-text.ts'
import { keyOf, kindOfResource } from './kinds.ts'
import { metadataOf, prepareUpdate } from './lifecycle.ts'
import { served } from './list.ts'
import { updater } from './managed-fields.ts'
import type { RegistrationSource, RegistrationState, StatusWrite } from './registration-source.ts'
import type { Registrations } from './registrations.ts'
import { currentOf, type RegistrationContext, writeObject } from './write-object.ts'

/** Owner of the status of PediaClusters. */
const SYNCER = 'fleetglass-syncer'

/** Bursts (an apply of a whole directory) make one state. */
const SETTLE_MILLISECONDS = 50
/** Reading the registrations of a thousand clusters takes so much less time than what is left. */
const CALM_FACTOR = 4
/** A reading that waited for a database that was away is no measure. */
const CALM_MOST_MILLISECONDS = 5_000
/** How long a state may be out of date when nobody tells of a change. */
const RETRY_MILLISECONDS = 10_000

export function databaseRegistrationSource(registrations: Registrations): RegistrationSource {
  const { context } = registrations
  return {
    states: (signal) => states(context, signal),
    writeStatus: (write) => writeStatus(context, write),
  }
}

async function* states(
  context: Registrations['context'],
  signal: AbortSignal,
): AsyncGenerator<RegistrationState> {
  const wake = context.wakes.subscribe(signal)
  let told: string | undefined
  while (!signal.aborted) {
    const woken = wake(RETRY_MILLISECONDS)
    const start = performance.now()
    const read = await readState(context).catch(unlessUnavailable)
    const calm = Math.min(CALM_FACTOR * (performance.now() - start), CALM_MOST_MILLISECONDS)
    if (read && read.digest !== told) {
      told = read.digest
      yield read.state
    }
    await woken
    // Each status that a syncer writes wakes us, too.
    const pause = Math.max(SETTLE_MILLISECONDS, calm)
    await context.clock.sleep(pause, signal).catch(() => undefined)
  }
}

/** While the database does not answer, the last state holds, and it is asked again. */
function unlessUnavailable(error: unknown): undefined {
  if (error instanceof StatusError) return undefined
  throw error
}

async function readState(context: RegistrationContext) {
  const { store, keyring } = context
  const pediaClusters: JsonObject[] = []
  const syncResources: JsonObject[] = []
  const wanted: string[] = []
  for (const { object: text, uid, credentials, group, resource } of await allRegistrations(store)) {
    if (group !== CLUSTER_GROUP) continue
    const object = withSpec(served(text).object)
    wanted.push(`${uid} ${formatJson(wantedOf(object))}`)
    if (resource !== 'pediaclusters') {
      syncResources.push(object)
      continue
    }
    const opened = openedSecrets(credentials, keyring, sealingContext({ group, resource }, uid))
    // A cluster whose credentials do not open cannot be reached, and must not hold up the others.
    pediaClusters.push(reveal(object, opened ?? {}, secretFieldsOf({ resource })))
  }
  const state = {
    pediaClusters: pediaClusters as unknown as readonly PediaCluster[],
    syncResources: syncResources as unknown as readonly ClusterSyncResources[],
  }
  return { state, digest: wanted.join('\n') }
}

/** What a syncer acts on: a status that it wrote itself, and who owns which field, is no news. */
function wantedOf(object: JsonObject): readonly Json[] {
  const { labels, annotations, deletionTimestamp } = metadataOf(object)
  // Not the generation: a Secret of a management cluster changes the spec that is stored, too.
  return [field(object, 'spec'), labels, annotations, deletionTimestamp].map(
    (value) => value ?? null,
  )
}

async function writeStatus(
  context: RegistrationContext,
  { name, uid, lease, status }: StatusWrite,
): Promise<void> {
  const kind = kindOfResource(CLUSTER_GROUP, 'pediaclusters')
  const key = keyOf(kind, name)
  const wanted = JSON.parse(JSON.stringify(status)) as Json
  const known = await readRegistration(context.store, key)
  if (known?.uid !== uid || sameJson(field(served(known.object).object, 'status'), wanted)) return
  await writeRegistrations(context.store, async (writer) => {
    const row = await writer.read(key)
    if (row?.uid !== uid) return
    await checkLease(writer.transaction, lease)
    const current = currentOf(row)
    const next = prepareUpdate({
      current: current.object,
      next: withField(current.object, 'status', wanted),
      kind,
      subresource: 'status',
    })
    const options = { fieldManager: SYNCER }
    const by = updater(kind, options, 'status')
    await writeObject(writer, context, {
      kind,
      current,
      next,
      secrets: NO_SECRETS,
      options,
      subresource: 'status',
      by,
    })
  })
}

/** Where rights come from: every FleetAccess, and a call after each change of one. */
export interface DatabaseAccessSource {
  accessObjects(): Promise<readonly FleetAccess[]>
  /** Until the signal is aborted. The listener may be called for nothing. */
  onAccessChange(listener: () => void, signal: AbortSignal): void
}

export function databaseAccessSource(registrations: Registrations): DatabaseAccessSource {
  const { context } = registrations
  return {
    async accessObjects() {
      const { items } = await registrations.list({
        kind: kindOfResource(ACCESS_GROUP, 'fleetaccesses'),
        selects: () => true,
      })
      return items.map(({ object }) => object as unknown as FleetAccess)
    },
    onAccessChange(listener, signal) {
      const kind = kindOfResource(ACCESS_GROUP, 'fleetaccesses')
      void followAccess(registrations, { kind, listener, signal })
    },
  }

  async function followAccess(
    { list }: Registrations,
    following: {
      readonly kind: ReturnType<typeof kindOfResource>
      readonly listener: () => void
      readonly signal: AbortSignal
    },
  ): Promise<void> {
    const { kind, listener, signal } = following
    const wake = context.wakes.subscribe(signal)
    let told: string | undefined
    while (!signal.aborted) {
      const woken = wake()
      const seen = await list({ kind, selects: () => true }).then(
        ({ items }) => items.map(({ text }) => text).join('\n'),
        () => undefined, // the database does not answer: asked again at the next wake
      )
      if (seen !== undefined && seen !== told) listener()
      told = seen ?? told
      await woken
    }
  }
}
