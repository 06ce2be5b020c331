/** Jobs and cron jobs. */
import type { KubeObject } from '../kube/kube-object.ts'
import { formatAge } from './age.ts'
import { selectorText } from './label-text.ts'
import { containerImages, containerNames } from './pod-template.ts'
import { type Cell, type PrintersByResource, TimeSince } from './printer.ts'
import {
  ageOf,
  count,
  type Fields,
  fields,
  integer,
  isSet,
  items,
  NONE,
  nameOf,
  since,
  text,
  timeOf,
  truth,
  UNSET,
} from './read-field.ts'

export const jobs: PrintersByResource = {
  'jobs.batch': jobCells,
  'cronjobs.batch': cronJobCells,
}

function jobCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const status = fields(object.status)
  return [
    nameOf(object),
    jobStatus(object, status),
    completions(spec, status),
    duration(status),
    ageOf(object),
    ...templateCells(spec),
  ]
}

function jobStatus(object: KubeObject, status: Fields): string {
  if (hasCondition(status, 'Complete')) return 'Complete'
  if (hasCondition(status, 'Failed')) return 'Failed'
  if (isSet(fields(object.metadata).deletionTimestamp)) return 'Terminating'
  return (
    ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) =>
      hasCondition(status, type),
    ) ?? 'Running'
  )
}

/** Only the first condition of a type counts. */
function hasCondition(status: Fields, type: string): boolean {
  const condition = items(status.conditions)
    .map(fields)
    .find((candidate) => candidate.type === type)
  return condition?.status === 'True'
}

function completions(spec: Fields, status: Fields): string {
  const succeeded = integer(status.succeeded)
  if (isSet(spec.completions)) return `${succeeded}/${integer(spec.completions)}`
  const parallelism = integer(spec.parallelism)
  return count(parallelism) > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function duration(status: Fields): Cell {
  const started = timeOf(status.startTime)
  if (started === undefined) return ''
  const completed = timeOf(status.completionTime)
  return completed === undefined ? new TimeSince(started) : formatAge((completed - started) / 1000)
}

function cronJobCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const status = fields(object.status)
  return [
    nameOf(object),
    text(spec.schedule),
    isSet(spec.timeZone) ? text(spec.timeZone) : NONE,
    suspendText(spec.suspend),
    items(status.active).length,
    isSet(status.lastScheduleTime) ? since(status.lastScheduleTime) : NONE,
    ageOf(object),
    ...templateCells(fields(fields(spec.jobTemplate).spec)),
  ]
}

function suspendText(suspend: unknown): string {
  if (!isSet(suspend)) return UNSET
  return truth(suspend) ? 'True' : 'False'
}

function templateCells(jobSpec: Fields): readonly Cell[] {
  const podSpec = fields(jobSpec.template).spec
  return [containerNames(podSpec), containerImages(podSpec), selectorText(jobSpec.selector)]
}
