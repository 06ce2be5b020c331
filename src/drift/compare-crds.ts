/**
 * Which CustomResourceDefinitions are missing somewhere, and which are not the same everywhere.
 *
 * The two are kept apart: a difference is only between clusters that have it.
 */
import { compareBytes } from '../kube/byte-order.ts'
import {
  type Compared,
  type ComparisonInput,
  type Envelope,
  envelope,
  prepare,
  type Seen,
} from './comparison.ts'
import type { CrdShape } from './crd-shape.ts'
import { sortedTexts } from './order.ts'

export interface CrdFacts {
  readonly crds: readonly CrdShape[]
}

export interface CrdDifference {
  readonly field: 'served versions' | 'storage version' | 'scope' | 'established' | 'schemas'
  readonly values: ReadonlyArray<{ readonly value: string; readonly clusters: readonly string[] }>
}

export interface CrdRow {
  /** `<plural>.<group>`. */
  readonly key: string
  readonly drift: boolean
  readonly class: 'none' | 'missing' | 'different'
  readonly presentIn: readonly string[]
  readonly missingFrom: readonly string[]
  readonly unknownIn: readonly string[]
  readonly differences: readonly CrdDifference[]
  readonly notEstablishedIn: readonly string[]
  readonly terminatingIn: readonly string[]
  /** With a baseline: the clusters that are not as it is. */
  readonly differsIn?: readonly string[]
}

export interface CrdDrift extends Envelope {
  readonly comparison: 'crds'
  /** How many definitions there are in all, by name. */
  readonly total: number
  readonly rows: readonly CrdRow[]
}

export interface CrdOptions {
  /** True leaves a definition out. */
  readonly isIgnored?: (name: string) => boolean
}

export function compareCrds(
  input: ComparisonInput<CrdFacts>,
  { isIgnored = () => false }: CrdOptions = {},
): CrdDrift {
  const compared = prepare(input)
  const unknownIn = sortedTexts(input.unknown.map(({ cluster }) => cluster))
  const holders = holdersByName(compared.seen, isIgnored)
  const rows = [...holders]
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([key, shapes]) => rowOf({ key, shapes, unknownIn }, compared))
  const driftCount = rows.filter(({ drift }) => drift).length
  return {
    ...envelope('crds', input, { ...compared, driftCount }),
    total: rows.length,
    rows,
  }
}

/** By cluster name. */
type Holders = Map<string, CrdShape>

function holdersByName(
  seen: ReadonlyArray<Seen<CrdFacts>>,
  isIgnored: (name: string) => boolean,
): ReadonlyMap<string, Holders> {
  const found = new Map<string, Holders>()
  for (const { name: cluster, facts } of seen) {
    for (const shape of facts.crds) {
      if (isIgnored(shape.name)) continue
      const holders = found.get(shape.name) ?? new Map()
      found.set(shape.name, holders.set(cluster, shape))
    }
  }
  return found
}

interface CrdFound {
  readonly key: string
  readonly shapes: Holders
  readonly unknownIn: readonly string[]
}

function rowOf(
  { key, shapes, unknownIn }: CrdFound,
  { seen, comparable, baseline }: Compared<CrdFacts>,
): CrdRow {
  const names = seen.map(({ name }) => name)
  const presentIn = names.filter((name) => shapes.has(name))
  const missingFrom = names.filter((name) => !shapes.has(name))
  const differences = comparable ? differencesBetween(shapes) : []
  const differsIn = baseline && names.filter((name) => differs(shapes, name, baseline.name))
  const isDifferent = differsIn
    ? differsIn.some((name) => shapes.has(name) && shapes.has(baseline.name))
    : differences.length > 0
  const isMissing = differsIn ? differsIn.length > 0 : missingFrom.length > 0
  const found = isDifferent ? 'different' : isMissing ? 'missing' : 'none'
  const drift = comparable && found !== 'none'
  return {
    ...{ key, drift, class: comparable ? found : 'none' },
    ...{ presentIn, missingFrom, unknownIn, differences },
    notEstablishedIn: presentIn.filter((name) => !shapes.get(name)?.established),
    terminatingIn: presentIn.filter((name) => shapes.get(name)?.terminating),
    ...(differsIn && { differsIn }),
  }
}

/** Also when only one of the two has it. */
function differs(shapes: Holders, name: string, baseline: string): boolean {
  const [one, other] = [shapes.get(name), shapes.get(baseline)]
  if (!one || !other) return one !== other
  return FIELDS.some(([, read]) => read(one) !== read(other))
}

const FIELDS: ReadonlyArray<readonly [CrdDifference['field'], (shape: CrdShape) => string]> = [
  ['served versions', ({ served }) => served.join(', ')],
  ['storage version', ({ storage = '' }) => storage],
  ['scope', ({ scope }) => scope],
  ['established', ({ established }) => (established ? 'yes' : 'no')],
  ['schemas', ({ schemas = '' }) => schemas],
]

function differencesBetween(shapes: Holders): readonly CrdDifference[] {
  return FIELDS.flatMap(([field, read]) => {
    const byValue = Map.groupBy(shapes.keys(), (cluster) => read(shapes.get(cluster)!))
    if (byValue.size < 2) return []
    const values = [...byValue]
      .sort(([a], [b]) => compareBytes(a, b))
      .map(([value, clusters]) => ({ value, clusters }))
    return [{ field, values }]
  })
}
