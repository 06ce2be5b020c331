/**
 * The images of a pod, or of the template of one: what runs, or what is declared to run.
 *
 * The tag is what the specification says; the digest is what the status says was pulled. The status
 * may name another tag of the same digest, so its `image` is never read.
 */
import type { KubeObject } from '../kube/kube-object.ts'
import { at, listAt, textAt } from './field.ts'
import { resolvedDigest } from './image-reference.ts'

/** `sidecar`: an init container that goes on running. `ephemeral`: added to a pod to debug it. */
export const ROLES = ['container', 'init', 'sidecar', 'ephemeral'] as const
export type Role = (typeof ROLES)[number]

export interface ContainerImage {
  /** As it is written. */
  readonly image: string
  readonly role: Role
  /** What the registry calls what was pulled; undefined when it is not known. */
  readonly resolved?: string
}

const LISTS = [
  ['containers', 'containerStatuses'],
  ['initContainers', 'initContainerStatuses'],
  ['ephemeralContainers', 'ephemeralContainerStatuses'],
] as const

/** The images of `{ spec, status }` of a pod; of a template, which has no status. */
export function imagesIn(pod: unknown): readonly ContainerImage[] {
  return LISTS.flatMap(([field, statuses]) => {
    const containers = listAt(pod, 'spec', field)
    if (containers.length === 0) return []
    const digests = digestsByName(listAt(pod, 'status', statuses))
    return containers.map((container): ContainerImage => {
      const resolved = digests.get(textAt(container, 'name') ?? '')
      return {
        image: textAt(container, 'image') ?? '',
        role: roleOf(field, container),
        ...(resolved !== undefined && { resolved }),
      }
    })
  })
}

function digestsByName(statuses: readonly unknown[]): ReadonlyMap<string, string> {
  return new Map(
    statuses.flatMap((status): ReadonlyArray<[string, string]> => {
      const digest = resolvedDigest(textAt(status, 'imageID') ?? '')
      return digest === undefined ? [] : [[textAt(status, 'name') ?? '', digest]]
    }),
  )
}

function roleOf(field: (typeof LISTS)[number][0], container: unknown): Role {
  if (field === 'containers') return 'container'
  if (field === 'ephemeralContainers') return 'ephemeral'
  return textAt(container, 'restartPolicy') === 'Always' ? 'sidecar' : 'init'
}

/** True for pods that will not run again: what they ran is history. */
export function isFinished(pod: KubeObject): boolean {
  const phase = textAt(pod, 'status', 'phase')
  return phase === 'Succeeded' || phase === 'Failed'
}

/** The pod template of a workload; undefined for objects that have none. */
export function templateOf(workload: KubeObject): unknown {
  return at(workload, 'spec', 'template') ?? at(workload, 'spec', 'jobTemplate', 'spec', 'template')
}

/** True for a Job that a CronJob made: its template is the CronJob's, as it was then. */
export function isMadeByCronJob(job: KubeObject): boolean {
  return listAt(job, 'metadata', 'ownerReferences').some(
    (owner) => textAt(owner, 'kind') === 'CronJob',
  )
}
