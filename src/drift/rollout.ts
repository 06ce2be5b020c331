/** Whether a Deployment is on its way from one template to another, and which one a pod is of. */
import type { KubeObject } from '../kube/kube-object.ts'
import { listAt, numberAt, textAt } from './field.ts'

/** Two images at once are expected then. */
export function isRollingOut(deployment: KubeObject): boolean {
  const generation = numberAt(deployment, 'metadata', 'generation') ?? 0
  if ((numberAt(deployment, 'status', 'observedGeneration') ?? 0) < generation) return true
  const desired = numberAt(deployment, 'spec', 'replicas') ?? 1
  const updated = numberAt(deployment, 'status', 'updatedReplicas') ?? 0
  const all = numberAt(deployment, 'status', 'replicas') ?? 0
  return updated < desired || all > updated
}

/** `namespace/name` of the pod's Deployment: its ReplicaSet is named after it and the template's hash. */
export function deploymentOf(pod: KubeObject): string | undefined {
  const owner = listAt(pod, 'metadata', 'ownerReferences').find(
    (reference) => textAt(reference, 'kind') === 'ReplicaSet',
  )
  const hash = textAt(pod, 'metadata', 'labels', 'pod-template-hash')
  const replicaSet = textAt(owner, 'name')
  if (!hash || !replicaSet?.endsWith(`-${hash}`)) return undefined
  return deploymentKey(pod, replicaSet.slice(0, -hash.length - 1))
}

export function deploymentKey(object: KubeObject, name: string): string {
  return `${textAt(object, 'metadata', 'namespace') ?? ''}/${name}`
}
