/**
 * Every issue that a sweep can find, and how bad each is.
 *
 * The list is closed on purpose: an issue in a report can only be one of these words.
 */

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Of one container or pod. */
export const POD_ISSUES = [
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'OOMKilled',
  'Unschedulable',
  'VolumeAttachError',
  'VolumeMountError',
  'RestartLoop',
  'Init:ImagePullBackOff',
  'Init:ErrImagePull',
  'Init:OOMKilled',
  'Init:CreateContainerConfigError',
  'Init:CrashLoopBackOff',
  'ProbeFailure',
  'CreateContainerConfigError',
  'ContainerStartError',
] as const

export const WORKLOAD_ISSUES = ['JobFailed', 'FailedCreate', 'RolloutStuck'] as const

export const WARNING_ISSUES = [
  'Degraded',
  'Failed',
  'NoExternalAddress',
  'NoEndpoints',
  'NoService',
  'PortNotExposed',
  'MissingStorageClass',
  'PVSelectorMismatch',
  'NoMatchingPV',
  'ProvisioningFailed',
  'FailedBinding',
  'ProvisionerNotResponding',
  'StuckTerminating',
  'PDBUnsatisfiable',
  'PDBStale',
  'PDBSingleton',
  'PDBBlocked',
  'HPAUnableToScale',
  'HPAScalingDisabled',
  'HPAAmbiguousSelector',
  'HPAMetricsFailed',
  'HPACapped',
  'MissingService',
  'HighTimeout',
  'exhausted',
  'near',
] as const

/** Found only when asked for. */
export const NODE_ISSUES = ['NodeNotReady', 'NodePressure', 'NodeCordoned'] as const

export type IssueName =
  | (typeof POD_ISSUES)[number]
  | (typeof WORKLOAD_ISSUES)[number]
  | (typeof WARNING_ISSUES)[number]
  | (typeof NODE_ISSUES)[number]

const CRITICAL: ReadonlySet<IssueName> = new Set([
  ...POD_ISSUES,
  ...WORKLOAD_ISSUES,
  'NodeNotReady',
])

export function severityOf(issue: IssueName): Severity {
  if (CRITICAL.has(issue)) return 'critical'
  return issue === 'NodeCordoned' ? 'info' : 'warning'
}

export function atLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}

/** One thing that is wrong, in full: what a gate prints and a sweep only counts. */
export interface Finding {
  readonly issue: IssueName
  readonly kind: string
  /** `''` when the object is cluster-scoped. */
  readonly namespace: string
  readonly name: string
  /** What was seen, in words. */
  readonly reason: string
}
