/** What to do next about each issue: where to look, or what to change. */
import type { IssueName } from './issue.ts'

export function adviceFor(issue: IssueName, kind: string): string {
  return issue === 'NoEndpoints' ? NO_ENDPOINTS[kind]! : ADVICE[issue]
}

const PULL = 'check the image name, its tag and the pull secret: kubectl describe pod'
const MEMORY = 'raise the memory limit, or find what needs so much'
const CONFIG = 'make the ConfigMap or Secret that it names, with the keys that it reads'
const LOGS = 'read why it ended: kubectl logs --previous'

const NO_ENDPOINTS: Readonly<Record<string, string>> = {
  Service:
    'compare its selector with the labels of pods; expected? annotate it fleetglass.io/expected-empty: "true"',
  Ingress: 'look at the pods behind that Service',
  ValidatingWebhookConfiguration: 'bring the webhook’s pods up, or set failurePolicy: Ignore',
  MutatingWebhookConfiguration: 'bring the webhook’s pods up, or set failurePolicy: Ignore',
}

const ADVICE: Readonly<Record<Exclude<IssueName, 'NoEndpoints'>, string>> = {
  CrashLoopBackOff: LOGS,
  ImagePullBackOff: PULL,
  ErrImagePull: PULL,
  OOMKilled: MEMORY,
  Unschedulable: 'compare its requests, selectors and tolerations with the nodes',
  VolumeAttachError:
    'look whether another node still holds the volume: kubectl get volumeattachment',
  VolumeMountError: 'check that the volume, Secret or ConfigMap it mounts is there',
  RestartLoop: LOGS,
  'Init:ImagePullBackOff': PULL,
  'Init:ErrImagePull': PULL,
  'Init:OOMKilled': MEMORY,
  'Init:CreateContainerConfigError': CONFIG,
  'Init:CrashLoopBackOff': 'read why it ended: kubectl logs --container, with the init container',
  ProbeFailure: 'ask the probe’s path and port from within, and compare with its timeout',
  CreateContainerConfigError: CONFIG,
  ContainerStartError: 'check command, mounts and lifecycle hooks: kubectl describe pod',
  JobFailed: 'read the logs of its pods, then delete the Job or let its CronJob run again',
  FailedCreate:
    'look for a quota, an admission webhook or a missing ServiceAccount that refuses pods',
  RolloutStuck: 'kubectl rollout status, and kubectl rollout undo if need be',
  Degraded: 'wait for a rollout to end; else look at the pods that are not ready',
  Failed: 'delete the pods that have failed once you know why: kubectl describe pod',
  NoExternalAddress: 'look at the load balancer controller and its quota: kubectl describe service',
  NoService: 'make the Service, or change the route',
  PortNotExposed: 'change the port of the route, or expose it in the Service',
  MissingStorageClass: 'make the StorageClass, or name another in a new claim',
  PVSelectorMismatch: 'change the labels of a volume, or the selector of the claim',
  NoMatchingPV: 'make a volume of that size and access mode, or name a StorageClass',
  ProvisioningFailed: 'read the event: kubectl describe pvc; then the log of the provisioner',
  FailedBinding: 'read the event: kubectl describe pvc',
  ProvisionerNotResponding: 'look whether the pods of the provisioner run',
  StuckTerminating: 'find what its finalizers wait for; do not just remove them',
  PDBUnsatisfiable: 'allow at least one disruption: lower minAvailable or raise maxUnavailable',
  PDBStale: 'correct its selector, or delete it',
  PDBSingleton: 'run two replicas, or accept that drains wait',
  PDBBlocked: 'bring its pods back to health',
  HPAUnableToScale: 'look at the object it scales: kubectl describe hpa',
  HPAScalingDisabled: 'scale the target above zero to let it work again',
  HPAAmbiguousSelector: 'give each autoscaler a target with pods of its own',
  HPAMetricsFailed: 'look whether the metrics server answers, and whether requests are set',
  HPACapped: 'raise maxReplicas, or make each pod do more',
  MissingService: 'delete the webhook configuration if its service is gone for good',
  HighTimeout: 'lower timeoutSeconds below 15',
  exhausted: 'raise the quota or free some of it: nothing more can be made',
  near: 'raise the quota before it is used up',
  NodeNotReady: 'look at the kubelet of the node: kubectl describe node',
  NodePressure: 'free memory, disk or processes on the node',
  NodeCordoned: 'kubectl uncordon, when the work on it is done',
}
