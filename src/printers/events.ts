/**
 * Events, of the core group and of events.k8s.io.
 *
 * Both are the same objects; the newer group renamed the older fields (`deprecated…`, `regarding`,
 * `note`), and both columns and cells are those of the core group.
 */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource, TimeSince } from './printer.ts'
import { type Fields, fields, integer, isSet, nameOf, since, text, timeOf } from './read-field.ts'

export const events: PrintersByResource = { events: eventCells }

function eventCells(object: KubeObject): readonly Cell[] {
  const target = fields(object.involvedObject ?? object.regarding)
  const first = firstSeen(object)
  return [
    lastSeen(object, first),
    text(object.type),
    text(object.reason),
    targetText(target),
    text(target.fieldPath),
    sourceText(object),
    text(object.message ?? object.note).trim(),
    first,
    occurrences(object),
    nameOf(object),
  ]
}

function firstSeen(object: KubeObject): TimeSince | string {
  const timestamp = object.firstTimestamp ?? object.deprecatedFirstTimestamp
  return since(timeOf(timestamp) === undefined ? object.eventTime : timestamp)
}

function lastSeen(object: KubeObject, first: TimeSince | string): TimeSince | string {
  if (isSet(object.series)) return since(fields(object.series).lastObservedTime)
  const timestamp = object.lastTimestamp ?? object.deprecatedLastTimestamp
  return timeOf(timestamp) === undefined ? first : since(timestamp)
}

/** An event that has happened once may have no count. */
function occurrences(object: KubeObject): number | bigint {
  if (isSet(object.series)) return integer(fields(object.series).count)
  return integer(object.count ?? object.deprecatedCount) || 1
}

function targetText({ kind, name }: Fields): string {
  const lowerKind = text(kind).toLowerCase()
  return text(name) === '' ? lowerKind : `${lowerKind}/${text(name)}`
}

function sourceText(object: KubeObject): string {
  const source = fields(object.source ?? object.deprecatedSource)
  const component =
    text(source.component) || text(object.reportingComponent) || text(object.reportingController)
  const instance = text(source.host) || text(object.reportingInstance)
  return instance === '' ? component : `${component}, ${instance}`
}
