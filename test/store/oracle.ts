/**
 * What a list must answer, worked out in memory: no SQL, no tokens, no index, and nothing of src/.
 *
 * It takes requirements as structures, never as text. test/store/oracle.test.ts holds it against what
 * a real API server selected.
 */

export interface TestObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly creationTimestamp?: string | null
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: ReadonlyArray<{ readonly uid: string }>
  }
  readonly [field: string]: unknown
}

export interface StoredObject {
  readonly cluster: string
  readonly clusterId: number
  readonly object: TestObject
}

type Path = ReadonlyArray<
  { readonly key: string } | { readonly every: true } | { readonly index: number }
>
type Membership = { readonly operator: 'In' | 'NotIn'; readonly values: readonly string[] }
type Presence = { readonly operator: 'Exists' | 'DoesNotExist' }
type Comparison = { readonly operator: 'Gt' | 'Gte' | 'Lt' | 'Lte'; readonly value: string }

type LabelRequirement = { readonly key: string } & (
  | Membership
  | Presence
  | { readonly operator: 'Gt' | 'Lt'; readonly value: bigint }
)
type FieldRequirement = { readonly path: Path } & (Membership | Presence | Comparison)

type Condition =
  | ({ readonly on: 'namespace' | 'name' } & Membership)
  | { readonly on: 'fuzzy-name'; readonly contains: readonly string[] }
  | { readonly on: 'text'; readonly words: readonly string[] }
  | { readonly on: 'created'; readonly since?: Date; readonly before?: Date }
  | {
      readonly on: 'owner'
      readonly owners: ReadonlyArray<{
        readonly clusterId: number
        readonly namespace: string
        readonly uid: string
      }>
    }
  | { readonly on: 'label'; readonly requirement: LabelRequirement }
  | { readonly on: 'field'; readonly requirement: FieldRequirement }

interface OrderKey {
  readonly by: string | Path
  readonly descending: boolean
}

interface Request {
  readonly scope: ReadonlyArray<{
    readonly name: string
    readonly namespaces: 'every-namespace' | readonly string[]
  }>
  readonly conditions: readonly Condition[]
  readonly order: readonly OrderKey[]
}

/** Keys as `cluster/namespace/name`, in order. */
export function expected(objects: readonly StoredObject[], request: Request): string[] {
  return objects
    .filter((stored) => isVisible(stored, request.scope))
    .filter((stored) => request.conditions.every((condition) => holds(condition, stored)))
    .sort((a, b) => compare(a, b, request.order))
    .map(({ cluster, object }) => `${cluster}/${namespaceOf(object)}/${object.metadata.name}`)
}

function namespaceOf(object: TestObject): string {
  return object.metadata.namespace ?? ''
}

function isVisible({ cluster, object }: StoredObject, scope: Request['scope']): boolean {
  const visible = scope.find(({ name }) => name === cluster)?.namespaces ?? []
  return visible === 'every-namespace' || visible.includes(namespaceOf(object))
}

function holds(condition: Condition, { object, clusterId }: StoredObject): boolean {
  const { metadata } = object
  switch (condition.on) {
    case 'namespace':
      return isIn(namespaceOf(object), condition)
    case 'name':
      return isIn(metadata.name, condition)
    case 'fuzzy-name':
      return condition.contains.every((text) => metadata.name.includes(text))
    case 'text': {
      const found = textsOf(object).flatMap(wordsOf)
      return condition.words.every((word) => found.includes(word))
    }
    case 'created': {
      const at = metadata.creationTimestamp ? Date.parse(metadata.creationTimestamp) : undefined
      const { since, before } = condition
      if (since && !(at !== undefined && at >= since.getTime())) return false
      return !(before && !(at !== undefined && at < before.getTime()))
    }
    case 'owner': {
      const uids = new Set((metadata.ownerReferences ?? []).map(({ uid }) => uid))
      return condition.owners.some(
        (owner) =>
          owner.clusterId === clusterId &&
          (owner.namespace === '' || owner.namespace === namespaceOf(object)) &&
          uids.has(owner.uid),
      )
    }
    case 'label':
      return labelHolds(condition.requirement, metadata.labels ?? {})
    case 'field':
      return fieldHolds(condition.requirement, object)
  }
}

/** What free text is looked for in. */
export function textsOf({ metadata, status: _, ...rest }: TestObject): string[] {
  const maps = [metadata.labels ?? {}, metadata.annotations ?? {}]
  return [
    metadata.name,
    ...maps.flatMap((map) => Object.entries(map).flat()),
    ...imagesIn(rest).filter((value) => typeof value === 'string'),
  ]
}

function imagesIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) =>
    key === 'image' ? [child] : imagesIn(child),
  )
}

/** Character by character; the writer does it with a pattern. */
export function wordsOf(text: string): string[] {
  const characters = [...text.normalize('NFC').toLowerCase()]
  const isDigit = (character = '') => /^\p{Nd}$/u.test(character)
  const words = ['']
  characters.forEach((character, i) => {
    const inNumber = character === '.' && isDigit(characters[i - 1]) && isDigit(characters[i + 1])
    if (inNumber || /^[\p{L}\p{M}\p{N}]$/u.test(character)) words.push(words.pop() + character)
    else words.push('')
  })
  return words.filter((word) => word !== '')
}

function isIn(
  value: string,
  { operator, values }: { operator: 'In' | 'NotIn'; values: readonly string[] },
) {
  return values.includes(value) === (operator === 'In')
}

function labelHolds(
  requirement: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value)
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      if (value === undefined || !/^[+-]?\d+$/.test(value)) return false
      const number = BigInt(value.replace(/^\+/, ''))
      if (BigInt.asIntN(64, number) !== number) return false
      return requirement.operator === 'Gt' ? number > requirement.value : number < requirement.value
    }
  }
}

function fieldHolds(requirement: FieldRequirement, object: TestObject): boolean {
  const found = valuesAt(object, requirement.path)
  switch (requirement.operator) {
    case 'Exists':
      return found.length > 0
    case 'DoesNotExist':
      return found.length === 0
    case 'Gt':
    case 'Gte':
    case 'Lt':
    case 'Lte':
      return found.some((value) => isBeyond(sizeOf(value), requirement))
    default: {
      const texts = found.filter((value) => typeof value !== 'object' || value === null).map(String)
      // The empty value stands for a missing field, too.
      const isMissing = found.length === 0 && requirement.values.includes('')
      const some = isMissing || texts.some((text) => requirement.values.includes(text))
      return some === (requirement.operator === 'In')
    }
  }
}

/** Whole thousandths, or milliseconds since 1970: as fine as the tried texts are. */
type Size = readonly [kind: 'number' | 'time', size: bigint]

const UNITS: Readonly<Record<string, bigint>> = {
  ...{ m: 1n, '': 1000n, k: 1_000_000n, Ki: 1_024_000n, Gi: 1_073_741_824_000n },
}

function sizeOf(value: unknown): Size | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value)
  const number = /^([+-]?\d+)(?:\.(\d))?(m|k|Ki|Gi|)$/.exec(text)
  if (number) {
    const [, whole = '', tenth = '0', unit = ''] = number
    const tenths = BigInt(whole) * 10n + (whole.startsWith('-') ? -BigInt(tenth) : BigInt(tenth))
    return ['number', (tenths * UNITS[unit]!) / 10n]
  }
  const isTime = /^\d{4}-\d\d-\d\d(T.*Z)?$/.test(text) && !Number.isNaN(Date.parse(text))
  return isTime ? ['time', BigInt(Date.parse(text))] : undefined
}

function isBeyond(
  found: Size | undefined,
  { operator, value }: { readonly operator: 'Gt' | 'Gte' | 'Lt' | 'Lte'; readonly value: string },
): boolean {
  const wanted = sizeOf(value)
  if (!found || !wanted || found[0] !== wanted[0]) return false
  if (found[1] === wanted[1]) return operator === 'Gte' || operator === 'Lte'
  return found[1] > wanted[1] === operator.startsWith('G')
}

export function valuesAt(value: unknown, [step, ...rest]: Path): unknown[] {
  if (!step) return [value]
  if (typeof value !== 'object' || value === null) return []
  if ('key' in step) {
    if (Array.isArray(value) || !Object.hasOwn(value, step.key)) return []
    return valuesAt((value as Record<string, unknown>)[step.key], rest)
  }
  if (!Array.isArray(value)) return []
  if ('every' in step) return value.flatMap((element) => valuesAt(element, rest))
  return step.index < value.length ? valuesAt(value[step.index], rest) : []
}

const ROW_KEY: readonly OrderKey[] = [
  { by: 'cluster', descending: false },
  { by: 'namespace', descending: false },
  { by: 'name', descending: false },
]

/** Numbers before texts; texts as they are compared byte by byte. */
type SortValue = string | bigint | readonly [number: number | undefined, text: string]

function sortValue({ cluster, object }: StoredObject, by: OrderKey['by']): SortValue | undefined {
  const { metadata } = object
  switch (by) {
    case 'cluster':
      return cluster
    case 'namespace':
      return namespaceOf(object)
    case 'name':
      return metadata.name
    case 'created_at':
      return metadata.creationTimestamp ? BigInt(Date.parse(metadata.creationTimestamp)) : undefined
    case 'resource_version':
      return BigInt(metadata.resourceVersion ?? '1')
    default:
      return typeof by === 'string' ? undefined : fieldValue(object, by)
  }
}

function fieldValue(object: TestObject, path: Path): SortValue | undefined {
  const [first] = valuesAt(object, path).filter((value) => typeof value !== 'object' || !value)
  if (first === undefined) return undefined
  const text = String(first)
  const isNumber = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)
  return [isNumber ? Number(text) : undefined, asStored(text)]
}

/** What PostgreSQL's text cannot hold stands for itself there as a mark and four digits. */
function asStored(text: string): string {
  return text.replace(
    /[\0\ue000]|(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/g,
    (odd) => {
      return `\ue000${odd.charCodeAt(0).toString(16).padStart(4, '0')}`
    },
  )
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function compare(a: StoredObject, b: StoredObject, order: readonly OrderKey[]): number {
  for (const { by, descending } of [...order, ...ROW_KEY]) {
    const left = sortValue(a, by)
    const right = sortValue(b, by)
    if (left === undefined || right === undefined) {
      if (left !== right) return left === undefined ? 1 : -1 // last, whatever the direction
      continue
    }
    const difference = compareValues(left, right, descending)
    if (difference !== 0) return difference
  }
  return 0
}

function compareValues(a: SortValue, b: SortValue, descending: boolean): number {
  const direction = descending ? -1 : 1
  if (typeof a === 'bigint' && typeof b === 'bigint')
    return direction * (a < b ? -1 : a > b ? 1 : 0)
  if (typeof a === 'string' || typeof b === 'string')
    return direction * byBytes(String(a), String(b))
  const [one, text] = a as readonly [number | undefined, string]
  const [other, otherText] = b as readonly [number | undefined, string]
  if (one === undefined || other === undefined) {
    if (one !== other) return one === undefined ? 1 : -1 // numbers first, whatever the direction
  } else if (one !== other) return direction * (one - other)
  return direction * byBytes(text, otherText)
}
