/** The client of the management cluster, as the settings of a command say how to reach it. */
import type { Registry } from 'prom-client'
import { clusterAddress } from '../../config.ts'
import {
  accessFromKubeconfigFile,
  accessFromServiceAccount,
  type ManagementAccess,
  SERVICE_ACCOUNT_DIR,
} from '../../management/access.ts'
import { createManagementClient, type ManagementClient } from '../../management/client.ts'
import { InvalidConfig } from '../../sync/member-access.ts'
import { MANAGEMENT_CLUSTER, restClientRequests } from '../../sync/metrics.ts'
import { CommandFailure } from '../failure.ts'
import { version } from '../version.ts'

export const MANAGEMENT_SETTINGS = ['registrations', 'kubeconfig', 'namespace'] as const

export interface ManagementSettings {
  readonly registrations: 'own' | 'management'
  readonly kubeconfig?: string
  readonly namespace?: string
}

/**
 * Opens no connection: that the management API server does not answer yet is no reason not to start.
 *
 * @param registry - where its requests are counted.
 * @returns undefined when registrations are our own.
 * @throws CommandFailure when the settings or files do not say how it is reached.
 */
export function openManagementCluster(
  settings: ManagementSettings,
  started: AsyncDisposableStack,
  registry?: Registry,
): ManagementClient | undefined {
  if (settings.registrations === 'own') {
    refuseUnused(settings)
    return undefined
  }
  const access = accessOf(settings)
  const { namespace = access.namespace } = settings
  const requests = registry && restClientRequests(registry)
  const client = createManagementClient(
    { ...access, namespace },
    {
      userAgent: `fleetglass/${version()}`,
      ...(requests && {
        count: (method, code) => requests.inc({ cluster: MANAGEMENT_CLUSTER, method, code }),
      }),
    },
  )
  started.defer(() => client.close())
  return client
}

/** Half a configuration would run in the wrong mode without a word. */
function refuseUnused({ kubeconfig, namespace }: ManagementSettings): void {
  const [unused] = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig']),
    ...(namespace === undefined ? [] : ['--namespace']),
  ]
  if (unused) {
    throw new CommandFailure(`${unused} needs --registrations=management`, { exitCode: 2 })
  }
}

function accessOf({ kubeconfig }: ManagementSettings): ManagementAccess {
  try {
    if (kubeconfig !== undefined) return accessFromKubeconfigFile(kubeconfig)
    const address = clusterAddress()
    if (address) return accessFromServiceAccount({ ...address, directory: SERVICE_ACCOUNT_DIR })
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    throw new CommandFailure(`cannot reach the management cluster: ${error.message}`)
  }
  throw new CommandFailure(
    '--registrations=management needs --kubeconfig outside of a pod (KUBERNETES_SERVICE_HOST is not set)',
    { exitCode: 2 },
  )
}
