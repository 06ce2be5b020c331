/**
 * The Pod Security Standard `restricted`, rule by rule.
 *
 * @see k8s.io/website content/en/docs/concepts/security/pod-security-standards.md
 */
import type { Manifest } from './manifests.ts'

const VOLUMES = new Set([
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral'],
  ...['persistentVolumeClaim', 'projected', 'secret'],
])
const SECCOMP = new Set(['RuntimeDefault', 'Localhost'])

interface Rule {
  readonly says: string
  readonly holds: (pod: Manifest, container: Manifest) => boolean
}

const RULES: readonly Rule[] = [
  {
    says: 'no namespaces of the host',
    holds: (pod) => !pod.hostNetwork && !pod.hostPID && !pod.hostIPC,
  },
  {
    says: 'only volumes that are not of the host',
    holds: ({ volumes = [] }) =>
      volumes.every((volume: object) =>
        Object.keys(volume).every((key) => key === 'name' || VOLUMES.has(key)),
      ),
  },
  {
    says: 'no ports of the host',
    holds: (_, { ports = [] }) => ports.every((port: Manifest) => !port.hostPort),
  },
  {
    says: 'privileged is not asked for',
    holds: (_, { securityContext }) => !securityContext?.privileged,
  },
  {
    says: 'allowPrivilegeEscalation: false',
    holds: (_, { securityContext }) => securityContext?.allowPrivilegeEscalation === false,
  },
  {
    says: 'runAsNonRoot: true',
    holds: (pod, { securityContext }) =>
      (securityContext?.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) === true,
  },
  {
    says: 'runAsUser is not 0',
    holds: (pod, { securityContext }) =>
      pod.securityContext?.runAsUser !== 0 && securityContext?.runAsUser !== 0,
  },
  {
    says: 'seccompProfile',
    holds: (pod, { securityContext }) =>
      SECCOMP.has((securityContext?.seccompProfile ?? pod.securityContext?.seccompProfile)?.type),
  },
  {
    says: 'all capabilities are dropped',
    holds: (_, { securityContext }) => {
      const { drop = [], add = [] } = securityContext?.capabilities ?? {}
      return drop.includes('ALL') && add.every((one: string) => one === 'NET_BIND_SERVICE')
    },
  },
  // Beyond the standard: ours need not write to their images.
  {
    says: 'readOnlyRootFilesystem: true',
    holds: (_, { securityContext }) => securityContext?.readOnlyRootFilesystem === true,
  },
  {
    says: 'a limit of memory',
    holds: (_, { resources }) => Boolean(resources?.limits?.memory && resources.requests?.memory),
  },
]

/** @param pod - the spec of a pod. @returns the rules it breaks. */
export function brokenRules(pod: Manifest): readonly string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers]
  return containers.flatMap((container: Manifest) =>
    RULES.filter(({ holds }) => !holds(pod, container)).map(
      ({ says }) => `${container.name}: ${says}`,
    ),
  )
}
