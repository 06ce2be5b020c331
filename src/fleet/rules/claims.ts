/**
 * PersistentVolumeClaims that stay Pending, and why: one reason each, the first that applies.
 *
 * A step whose input was not read ends the search: what comes after it would be a guess.
 */
import { type Fields, fields, isSet, text } from '../../printers/read-field.ts'
import { type EventsByObject, eventKey, eventsByObject, newest } from '../event.ts'
import type { Finding, IssueName } from '../issue.ts'
import { MINUTE, type Observation } from '../observation.ts'
import { ageOf, metaOf, nameOf, namespaceOf, placeOf, specOf, statusOf } from '../read-object.ts'
import { type OfferedVolumes, offeredVolumes } from './offered-volumes.ts'

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'
const PROVISIONER_PATIENCE = 10 * MINUTE

interface Found {
  readonly issue: IssueName
  readonly reason: string
}
/** `next`: nothing so far. `stop`: what would tell was not read. */
type Step = Found | 'next' | 'stop'

export function claimIssues(observation: Observation): readonly Finding[] {
  const { lists, now } = observation
  const events = lists.events && eventsByObject(lists.events)
  const classes = lists.storageclasses && classesByName(lists.storageclasses)
  const volumes = lists.persistentvolumes && offeredVolumes(lists.persistentvolumes)
  const pending = (lists.persistentvolumeclaims ?? []).filter(
    (claim) => statusOf(claim).phase === 'Pending',
  )
  return pending.flatMap((claim) => {
    const steps = [
      () => missingClass(claim, classes),
      () => noVolume(claim, classes, volumes),
      () => saidByEvents(claim, events),
      () => silentProvisioner(claim, classes, now),
    ]
    const found = firstOf(steps)
    return found ? [{ ...found, kind: 'PersistentVolumeClaim', ...placeOf(claim) }] : []
  })
}

interface StorageClasses {
  readonly byName: ReadonlyMap<string, Fields>
  readonly hasDefault: boolean
}

function classesByName(classes: readonly Fields[]): StorageClasses {
  const byName = new Map(classes.map((one) => [nameOf(one), one]))
  return { byName, hasDefault: classes.some(isDefaultClass) }
}

function firstOf(steps: ReadonlyArray<() => Step>): Found | undefined {
  for (const step of steps) {
    const result = step()
    if (result === 'stop') return undefined
    if (result !== 'next') return result
  }
  return undefined
}

function missingClass(claim: Fields, classes: StorageClasses | undefined): Step {
  const name = text(specOf(claim).storageClassName)
  if (name === '') return 'next'
  if (!classes) return 'stop'
  if (classes.byName.has(name)) return 'next'
  return { issue: 'MissingStorageClass', reason: `there is no StorageClass ${name}` }
}

function noVolume(
  claim: Fields,
  classes: StorageClasses | undefined,
  volumes: OfferedVolumes | undefined,
): Step {
  const { storageClassName } = specOf(claim)
  if (text(storageClassName) !== '') return 'next'
  if (!isSet(storageClassName)) {
    if (!classes) return 'stop'
    if (classes.hasDefault) return 'next'
  }
  if (!volumes) return 'stop'
  const fit = volumes.fit(claim)
  if (fit === 'selected') return 'next'
  if (fit === 'but for its labels') {
    return { issue: 'PVSelectorMismatch', reason: 'no volume that fits has the labels it selects' }
  }
  return { issue: 'NoMatchingPV', reason: 'no volume fits, and none is made for it' }
}

function isDefaultClass(storageClass: Fields): boolean {
  return fields(metaOf(storageClass).annotations)[DEFAULT_CLASS] === 'true'
}

function saidByEvents(claim: Fields, events: EventsByObject | undefined): Step {
  if (!events) return 'stop'
  const key = eventKey('PersistentVolumeClaim', namespaceOf(claim), nameOf(claim))
  const all = events.get(key) ?? []
  const last = newest(all.filter(({ reason }) => isFailure(reason)))
  if (!last || all.some(({ at }) => at > last.at)) return 'next'
  return { issue: last.reason as 'ProvisioningFailed' | 'FailedBinding', reason: last.message }
}

function isFailure(reason: string): boolean {
  return reason === 'ProvisioningFailed' || reason === 'FailedBinding'
}

function silentProvisioner(claim: Fields, classes: StorageClasses | undefined, now: number): Step {
  const name = text(specOf(claim).storageClassName)
  const storageClass = classes?.byName.get(name)
  if (name === '' || !storageClass) return 'next'
  const { volumeBindingMode } = storageClass
  const isImmediate = !isSet(volumeBindingMode) || volumeBindingMode === 'Immediate'
  if (!isImmediate || ageOf(claim, now) < PROVISIONER_PATIENCE) return 'next'
  const reason = `the provisioner of ${name} has said nothing for 10 minutes`
  return { issue: 'ProvisionerNotResponding', reason }
}
