/**
 * kubectl's JSONPath, as printer columns use it: `.status.conditions[?(@.type=="Ready")].status`.
 *
 * This is client-go's dialect, not RFC 9535: keys escape dots (`.annotations.a\.b/c`), an index
 * beyond the end is an error and not an empty result, comparing unlike types is one too, and
 * recursive descent yields nodes in another order. A printer column shows the difference, so the
 * dialect is spoken here instead of translated. A path is parsed once into functions.
 *
 * Not here: how a found value becomes a cell (custom-resource.ts), parsing (json-path-parser.ts).
 *
 * @see client-go/util/jsonpath/jsonpath.go: the rules this follows.
 */
import { isRecord } from './read-field.ts'

/** What a step makes of the values found so far; undefined is an error: the path finds nothing. */
export type Step = (found: readonly unknown[]) => readonly unknown[] | undefined

export interface Slice {
  /** Undefined where the path leaves it out. */
  readonly from: number | undefined
  readonly to: number | undefined
  readonly step: number | undefined
  /** A single index, `[n]`: `to` is only `from + 1`. */
  readonly single: boolean
}

export function allSteps(steps: readonly Step[]): Step {
  if (steps.length === 1) return steps[0]!
  return (found) => {
    let current: readonly unknown[] | undefined = found
    for (const step of steps) {
      current = step(current)
      if (current === undefined) return undefined
    }
    return current
  }
}

/** `.name`: what has no such key yields nothing. */
export function field(name: string): Step {
  return (found) => {
    const results: unknown[] = []
    for (const value of found) {
      if (isRecord(value) && Object.hasOwn(value, name)) results.push(value[name])
    }
    return results
  }
}

/** `.*` */
export function everyChild(): Step {
  return (found) => found.flatMap(childrenOf)
}

/** `..`: every value that has something in it, parents first. */
export function descendants(): Step {
  const collect = (value: unknown): unknown[] => {
    const children = childrenOf(value)
    return children.length === 0 ? [] : [value, ...children.flatMap(collect)]
  }
  return (found) => found.flatMap(collect)
}

/** A text has its bytes for children, as a Go string has. */
function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return [...Buffer.from(value, 'utf8')]
  return isRecord(value) ? Object.values(value) : []
}

/** `[1]`, `[-1]`, `[1:3]`, `[*]` */
export function slice(range: Slice): Step {
  return (found) => {
    const results: unknown[] = []
    for (const value of found) {
      if (value === null) continue
      const part = Array.isArray(value) ? sliceOf(value, range) : undefined
      if (part === undefined) return undefined
      if (part.length === 0) return results // an empty one ends the search, upstream too
      results.push(...part)
    }
    return results
  }
}

function sliceOf(list: readonly unknown[], range: Slice): readonly unknown[] | undefined {
  const [from, to] = bounds(range, list.length)
  if (from === to) return []
  const step = range.step ?? 1
  if (!isWithin(from, to, list.length) || step <= 0) return undefined
  const part = list.slice(from, to)
  return step === 1 ? part : part.filter((_, i) => i % step === 0)
}

function bounds(range: Slice, length: number): [from: number, to: number] {
  let from = range.from ?? 0
  if (from < 0) from += length
  let to = range.to ?? length
  if (to < 0 || (to === 0 && range.single)) to += length
  return [from, to]
}

function isWithin(from: number, to: number, length: number): boolean {
  return from >= 0 && from < length && to >= from && to <= length
}

/** `[0,2]`, `['a','b']` */
export function union(members: readonly Step[]): Step {
  return (found) => {
    const results: unknown[] = []
    for (const member of members) {
      const more = member(found)
      if (more === undefined) return undefined
      results.push(...more)
    }
    return results
  }
}

/** A number that a path spells with a point: to Go a float, also where it has no fraction. */
export class Float {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** A number or `true`: in the place of each value that was found. */
export function literal(value: number | bigint | boolean | Float): Step {
  return (found) => found.map(() => value)
}

/** A word in quotes: once, whatever was found. */
export function fixedText(value: string): Step {
  return () => [value]
}

/** A word that means nothing here, such as `range`. */
export function unknownWord(): Step {
  return () => undefined
}

/** `[?(@.x)]`: the elements for which the inner path finds anything; upstream counts an error too. */
export function filterExisting(inner: Step): Step {
  return filter((element) => inner([element])?.length !== 0)
}

/** `[?(@.x=="y")]`; an operator that is none is an error once there is something to compare. */
export function filterComparing(left: Step, operator: string, right: Step): Step {
  return filter((element) => {
    const lefts = left([element])
    if (lefts === undefined || lefts.length > 1) return undefined
    if (lefts.length === 0) return false
    const rights = right([element])
    if (rights === undefined || rights.length > 1) return undefined
    return rights.length === 0 ? false : compare(lefts[0], operator, rights[0])
  })
}

/** Undefined is an error: the whole path then finds nothing. */
type Accepts = (element: unknown) => boolean | undefined

function filter(accepts: Accepts): Step {
  return (found) => {
    const results: unknown[] = []
    for (const value of found) {
      const accepted = Array.isArray(value) ? acceptedOf(value, accepts) : undefined
      if (accepted === undefined) return undefined
      results.push(...accepted)
    }
    return results
  }
}

function acceptedOf(list: readonly unknown[], accepts: Accepts): readonly unknown[] | undefined {
  const results: unknown[] = []
  for (const element of list) {
    const accepted = accepts(element)
    if (accepted === undefined) return undefined
    if (accepted) results.push(element)
  }
  return results
}

/** Undefined where Go's templates refuse to compare: unlike types, lists, maps, order of booleans. */
function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  const kind = kindOf(left)
  if (kind === undefined || kind !== kindOf(right)) return undefined
  // Or both text, or both bigint: < orders each.
  const [a, b] = [plain(left), plain(right)] as [number, number]
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the number of the same value
  if (operator === '==') return a == b
  // biome-ignore lint/suspicious/noDoubleEquals: as above
  if (operator === '!=') return a != b
  if (kind === 'boolean') return undefined
  switch (operator) {
    case '<':
      return a < b
    case '<=':
      return a <= b
    case '>':
      return a > b
    case '>=':
      return a >= b
    default:
      return undefined
  }
}

/** What a found value is in JavaScript. */
export function plain(value: unknown): unknown {
  return value instanceof Float ? value.value : value
}

function kindOf(value: unknown): 'boolean' | 'string' | 'integer' | 'float' | undefined {
  switch (typeof value) {
    case 'boolean':
    case 'string':
      return typeof value as 'boolean' | 'string'
    case 'bigint':
      return 'integer'
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'float'
    default:
      return value instanceof Float ? 'float' : undefined
  }
}
