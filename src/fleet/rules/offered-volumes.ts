/**
 * PersistentVolumes that a claim without a class may still get, and whether one fits.
 *
 * A cluster may have thousands of claims and of volumes. What claims ask for besides a size is much
 * the same in all of them, so of each way of asking the largest volume is looked up once.
 */
import { quantityNanos } from '../../printers/quantity.ts'
import { type Fields, fields, isSet, text, texts } from '../../printers/read-field.ts'
import { metaOf, specOf, statusOf } from '../read-object.ts'
import { selectsLabels } from './selector.ts'

export type Fit = 'selected' | 'but for its labels' | 'none'

export interface OfferedVolumes {
  fit(claim: Fields): Fit
}

interface Volume {
  readonly capacity: bigint
  readonly modes: readonly string[]
  readonly volumeMode: string
  readonly labels: Fields
}

/** The largest capacity; undefined when there is no such volume. */
interface Largest {
  readonly ofAll: bigint | undefined
  readonly ofSelected: bigint | undefined
}

export function offeredVolumes(volumes: readonly Fields[]): OfferedVolumes {
  const offered = volumes.flatMap(offeredVolume)
  const known = new Map<string, Largest>()
  return {
    fit(claim) {
      const wanted = specOf(claim)
      const request = quantityNanos(fields(fields(wanted.resources).requests).storage ?? '0')
      if (request === undefined) return 'none'
      const asked = {
        modes: texts(wanted.accessModes).sort(),
        volumeMode: volumeModeOf(wanted),
        selector: isSet(wanted.selector) ? wanted.selector : undefined,
      }
      const key = JSON.stringify(asked)
      const largest = known.get(key) ?? largestOf(offered, asked)
      known.set(key, largest)
      const isIn = (capacity: bigint | undefined) => capacity !== undefined && capacity >= request
      if (isIn(largest.ofSelected)) return 'selected'
      return isIn(largest.ofAll) ? 'but for its labels' : 'none'
    },
  }
}

interface Asked {
  readonly modes: readonly string[]
  readonly volumeMode: string
  readonly selector: unknown
}

function largestOf(offered: readonly Volume[], { modes, volumeMode, selector }: Asked): Largest {
  const all = offered.filter(
    (volume) =>
      volume.volumeMode === volumeMode && modes.every((mode) => volume.modes.includes(mode)),
  )
  const selected =
    selector === undefined ? all : all.filter(({ labels }) => selectsLabels(selector, labels))
  return { ofAll: largest(all), ofSelected: largest(selected) }
}

function largest(volumes: readonly Volume[]): bigint | undefined {
  return volumes.reduce<bigint | undefined>(
    (most, { capacity }) => (most === undefined || capacity > most ? capacity : most),
    undefined,
  )
}

/** Nothing, unless it is free and of no class. */
function offeredVolume(volume: Fields): readonly Volume[] {
  const spec = specOf(volume)
  const capacity = quantityNanos(fields(spec.capacity).storage)
  const isFree = statusOf(volume).phase === 'Available' && !isSet(spec.claimRef)
  if (!isFree || text(spec.storageClassName) !== '' || capacity === undefined) return []
  const labels = fields(metaOf(volume).labels)
  return [{ capacity, modes: texts(spec.accessModes), volumeMode: volumeModeOf(spec), labels }]
}

function volumeModeOf({ volumeMode }: Fields): string {
  return text(volumeMode) || 'Filesystem'
}
