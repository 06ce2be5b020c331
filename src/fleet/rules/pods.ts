/** Every check of one pod. All of them run, so one pod can have several things wrong with it. */
import type { Fields } from '../../printers/read-field.ts'
import type { EventsByObject } from '../event.ts'
import type { Finding } from '../issue.ts'
import { placeOf } from '../read-object.ts'
import {
  configError,
  crashLoop,
  imagePull,
  oomKilled,
  type PodContext,
  restartLoop,
  startError,
} from './containers.ts'
import { initContainer } from './init-containers.ts'
import { probeFailure, unschedulable, volumeError } from './pod-events.ts'

/** @param events - undefined when they were not read: what needs them is skipped. */
export function podFindings(
  pod: Fields,
  events: EventsByObject | undefined,
  context: PodContext,
): readonly Finding[] {
  const found = [
    crashLoop(pod),
    imagePull(pod),
    oomKilled(pod, context),
    unschedulable(pod),
    events && volumeError(pod, events, ATTACH),
    events && volumeError(pod, events, MOUNT),
    restartLoop(pod, context),
    initContainer(pod, context),
    events && probeFailure(pod, events),
    configError(pod),
    startError(pod, context),
  ]
  return found
    .filter((finding) => finding !== undefined)
    .map((finding) => ({ ...finding, kind: 'Pod', ...placeOf(pod) }))
}

const ATTACH = { issue: 'VolumeAttachError', eventReason: 'FailedAttachVolume' } as const
const MOUNT = { issue: 'VolumeMountError', eventReason: 'FailedMount' } as const
