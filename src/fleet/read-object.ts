/** Reading the parts of an object that every rule looks at. What is missing reads as its zero value. */
import {
  count,
  type Fields,
  fields,
  isRecord,
  items,
  text,
  timeOf,
} from '../printers/read-field.ts'

export function metaOf(object: Fields): Fields {
  return fields(object.metadata)
}

export function specOf(object: Fields): Fields {
  return fields(object.spec)
}

export function statusOf(object: Fields): Fields {
  return fields(object.status)
}

export function nameOf(object: Fields): string {
  return text(metaOf(object).name)
}

export function namespaceOf(object: Fields): string {
  return text(metaOf(object).namespace)
}

/** Where an object of a finding is. */
export function placeOf(object: Fields): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaceOf(object), name: nameOf(object) }
}

export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

export function recordsIn(value: unknown): readonly Fields[] {
  return items(value).filter(isRecord)
}

export function labelsIn(value: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(fields(value)).map(([key, one]) => [key, text(one)]))
}

export function hasLabels(labels: ReadonlyMap<string, string>, selector: Fields): boolean {
  return Object.entries(selector).every(([key, value]) => labels.get(key) === text(value))
}

/** Age in milliseconds. Without a time of creation an object is as old as can be, as in Go. */
export function ageOf(object: Fields, now: number): number {
  return now - (timeOf(metaOf(object).creationTimestamp) ?? Number.NEGATIVE_INFINITY)
}

/** Null and missing are the default that the API server gives. */
export function countOr(value: unknown, otherwise: number): number {
  return value === undefined || value === null ? otherwise : count(value)
}

export interface Owner {
  readonly kind: string
  readonly name: string
}

/** The controller among the owners, else the first of them. */
export function ownerOf(object: Fields): Owner | undefined {
  const owners = recordsIn(metaOf(object).ownerReferences)
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0]
  return owner && { kind: text(owner.kind), name: text(owner.name) }
}

/** The controller alone. */
export function controllerOf(object: Fields): Owner | undefined {
  const owner = recordsIn(metaOf(object).ownerReferences).find(
    ({ controller }) => controller === true,
  )
  return owner && { kind: text(owner.kind), name: text(owner.name) }
}

/** The first condition of this type. */
export function conditionOf(object: Fields, type: string): Fields | undefined {
  return recordsIn(statusOf(object).conditions).find((condition) => condition.type === type)
}

export function conditionIs(object: Fields, type: string, status: string): boolean {
  return conditionOf(object, type)?.status === status
}

/** As the pod's own condition says. */
export function isReady(pod: Fields): boolean {
  return conditionIs(pod, 'Ready', 'True')
}

export function containerStatuses(pod: Fields): readonly Fields[] {
  return recordsIn(statusOf(pod).containerStatuses)
}

/** Of the main containers. */
export function restartsOf(pod: Fields): number {
  return containerStatuses(pod).reduce((sum, { restartCount }) => sum + count(restartCount), 0)
}
