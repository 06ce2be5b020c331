/**
 * PersistentVolumeClaims that stay Pending, and why: one reason each, the first that applies.
 *
 * A step whose input was not read ends the search: what comes after it would be a guess.
 */
import { quantityNanos } from '../../printers/quantity.ts'
import { type Fields, fields, isSet, text, texts } from '../../printers/read-field.ts'
import { type EventsByObject, eventKey, eventsByObject, newest } from '../event.ts'
import type { Finding, IssueName } from '../issue.ts'
import { MINUTE, type Observation } from '../observation.ts'
import { ageOf, metaOf, nameOf, namespaceOf, placeOf, specOf, statusOf } from '../read-object.ts'
import { selectsLabels } from './selector.ts'

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
  const pending = (lists.persistentvolumeclaims ?? []).filter(
    (claim) => statusOf(claim).phase === 'Pending',
  )
  return pending.flatMap((claim) => {
    const steps = [
      () => missingClass(claim, lists),
      () => noVolume(claim, lists),
      () => saidByEvents(claim, events),
      () => silentProvisioner(claim, lists, now),
    ]
    const found = firstOf(steps)
    return found ? [{ ...found, kind: 'PersistentVolumeClaim', ...placeOf(claim) }] : []
  })
}

function firstOf(steps: ReadonlyArray<() => Step>): Found | undefined {
  for (const step of steps) {
    const result = step()
    if (result === 'stop') return undefined
    if (result !== 'next') return result
  }
  return undefined
}

function missingClass(claim: Fields, { storageclasses }: Observation['lists']): Step {
  const name = text(specOf(claim).storageClassName)
  if (name === '') return 'next'
  if (!storageclasses) return 'stop'
  if (storageclasses.some((one) => nameOf(one) === name)) return 'next'
  return { issue: 'MissingStorageClass', reason: `there is no StorageClass ${name}` }
}

function noVolume(claim: Fields, lists: Observation['lists']): Step {
  const { storageClassName } = specOf(claim)
  if (text(storageClassName) !== '') return 'next'
  if (!isSet(storageClassName)) {
    if (!lists.storageclasses) return 'stop'
    if (lists.storageclasses.some(isDefaultClass)) return 'next'
  }
  if (!lists.persistentvolumes) return 'stop'
  const candidates = lists.persistentvolumes.filter((volume) => fits(volume, claim))
  if (candidates.some((volume) => isSelected(volume, claim))) return 'next'
  if (candidates.length > 0) {
    return { issue: 'PVSelectorMismatch', reason: 'no volume that fits has the labels it selects' }
  }
  return { issue: 'NoMatchingPV', reason: 'no volume fits, and none is made for it' }
}

function isDefaultClass(storageClass: Fields): boolean {
  return fields(metaOf(storageClass).annotations)[DEFAULT_CLASS] === 'true'
}

/** All but the labels. */
function fits(volume: Fields, claim: Fields): boolean {
  const offered = specOf(volume)
  const wanted = specOf(claim)
  const capacity = quantityNanos(fields(offered.capacity).storage)
  const request = quantityNanos(fields(fields(wanted.resources).requests).storage ?? '0')
  const modes = texts(offered.accessModes)
  return (
    statusOf(volume).phase === 'Available' &&
    !isSet(offered.claimRef) &&
    text(offered.storageClassName) === '' &&
    capacity !== undefined &&
    request !== undefined &&
    capacity >= request &&
    texts(wanted.accessModes).every((mode) => modes.includes(mode)) &&
    volumeMode(offered) === volumeMode(wanted)
  )
}

function volumeMode({ volumeMode }: Fields): string {
  return text(volumeMode) || 'Filesystem'
}

function isSelected(volume: Fields, claim: Fields): boolean {
  const { selector } = specOf(claim)
  return !isSet(selector) || selectsLabels(selector, fields(metaOf(volume).labels))
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

function silentProvisioner(claim: Fields, lists: Observation['lists'], now: number): Step {
  const name = text(specOf(claim).storageClassName)
  const storageClass = lists.storageclasses?.find((one) => nameOf(one) === name)
  if (name === '' || !storageClass) return 'next'
  const { volumeBindingMode } = storageClass
  const isImmediate = !isSet(volumeBindingMode) || volumeBindingMode === 'Immediate'
  if (!isImmediate || ageOf(claim, now) < PROVISIONER_PATIENCE) return 'next'
  const reason = `the provisioner of ${name} has said nothing for 10 minutes`
  return { issue: 'ProvisionerNotResponding', reason }
}
