/**
 * Which clusters a sweep is of, from flags, a fleet file and what there is.
 *
 * The order of the checks is the order in which mistakes are reported.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type FleetEntry, InvalidFleetFile, parseFleetFile } from '../../fleet/fleet-file.ts'
import { identityOf } from '../../fleet/outcome.ts'
import { sanitiseName } from '../../fleet/row-name.ts'
import { compareBytes } from '../../kube/byte-order.ts'
import { matchesGlob } from '../../kube/glob.ts'
import { usageError } from './usage.ts'

export interface SelectionFlags {
  readonly context?: readonly string[]
  readonly allContexts?: true
  readonly match?: string
  readonly fleetFile?: string
}

/** A cluster that was selected. */
export interface Selected {
  readonly context: string
  readonly name?: string
  /** Of a fleet file's entry. */
  readonly kubeconfig?: string
}

/** What can be selected from: the contexts of a kubeconfig, or registered clusters. */
export interface Available {
  readonly contexts: readonly string[]
  readonly currentContext?: string | undefined
}

/** @throws CommandFailure, a usage error naming both flags. */
export function checkFleetFileFlags({ fleetFile, context, allContexts }: SelectionFlags): void {
  if (fleetFile === undefined) return
  if (context) throw usageError('--fleet-file and --context cannot be used together')
  if (allContexts) throw usageError('--fleet-file and --all-contexts cannot be used together')
}

/** @throws CommandFailure, a usage error naming the flag and the path. */
export function readFleetFile(path: string): readonly FleetEntry[] {
  try {
    return parseFleetFile(readFileSync(resolve(path), 'utf8'))
  } catch (error) {
    const why = error instanceof InvalidFleetFile ? error.message : 'it cannot be opened'
    throw usageError(`--fleet-file ${path}: ${why}`)
  }
}

/**
 * Of a fleet file whose clusters are those of one mirror, if there is one.
 *
 * @throws CommandFailure, also for a kubeconfig: someone would believe it to be in use.
 */
export function mirroredEntries({ fleetFile }: SelectionFlags): readonly FleetEntry[] | undefined {
  const entries = fleetFile === undefined ? undefined : readFleetFile(fleetFile)
  if (entries?.every(({ kubeconfig }) => kubeconfig === undefined) ?? true) return entries
  throw usageError('--fleet-file: with --source store an entry cannot have a kubeconfig')
}

export interface SelectionInputs {
  readonly flags: SelectionFlags
  /** Of the fleet file, when there is one. */
  readonly entries: readonly FleetEntry[] | undefined
  /** Of the kubeconfig that an entry names; of the default one without. */
  readonly available: (kubeconfig?: string) => Available
}

/** @throws CommandFailure, a usage error; a selection is never empty. */
export function selectClusters(inputs: SelectionInputs): readonly Selected[] {
  const { flags, entries, available } = inputs
  const files = new Map<string | undefined, Available>()
  for (const kubeconfig of entries?.map((entry) => entry.kubeconfig) ?? [undefined]) {
    if (!files.has(kubeconfig)) files.set(kubeconfig, available(kubeconfig))
  }
  checkCombination(flags)
  const selected = entries
    ? entries.map((entry) => fromEntry(entry, files.get(entry.kubeconfig)!))
    : fromFlags(flags, files.get(undefined)!)
  return matching(selected, flags.match)
}

function checkCombination({ match, allContexts, fleetFile, context }: SelectionFlags): void {
  if (match && !allContexts && fleetFile === undefined) {
    throw usageError('--match needs --all-contexts or --fleet-file')
  }
  if (context && allContexts) {
    throw usageError('--context and --all-contexts cannot be used together')
  }
}

function fromEntry({ context, name, kubeconfig }: FleetEntry, { contexts }: Available): Selected {
  if (!contexts.includes(context)) throw unknownContext(context)
  return {
    context,
    ...(name !== context && { name }),
    ...(kubeconfig !== undefined && { kubeconfig }),
  }
}

function fromFlags(flags: SelectionFlags, { contexts, currentContext }: Available) {
  if (flags.allContexts) return contexts.toSorted(compareBytes).map((context) => ({ context }))
  const named = flags.context ?? (currentContext === undefined ? [] : [currentContext])
  if (named.length === 0) {
    throw usageError('nothing is selected: give --context or --all-contexts')
  }
  const unknown = named.find((context) => !contexts.includes(context))
  if (unknown !== undefined) throw unknownContext(unknown)
  // Named twice, a cluster still is one row.
  return [...new Set(named)].map((context) => ({ context }))
}

function unknownContext(context: string) {
  return usageError(`there is no context ${JSON.stringify(sanitiseName(context))}`)
}

/** An empty pattern is none. */
function matching(selected: readonly Selected[], match: string | undefined): readonly Selected[] {
  const kept = match ? selected.filter((one) => matchesGlob(match, identityOf(one))) : selected
  if (kept.length > 0) return kept
  throw usageError(
    match
      ? `--match ${JSON.stringify(match)} selects no cluster`
      : '--all-contexts selects no cluster: there are none',
  )
}
