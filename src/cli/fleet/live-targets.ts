/** Clusters that are asked themselves, as kubeconfigs say how. */
import { systemClock } from '../../clock.ts'
import { observeLive } from '../../fleet/live-source.ts'
import { identityOf } from '../../fleet/outcome.ts'
import { sanitiseName } from '../../fleet/row-name.ts'
import type { Target } from '../../fleet/sweep.ts'
import { FLEET_PREFIX } from '../../kube/fleet-prefix.ts'
import type { MemberAccess } from '../../sync/member-access.ts'
import { type KubeconfigFile, kubeconfigPath, kubeconfigReader } from './kubeconfig-contexts.ts'
import { memberReader } from './member-reader.ts'
import type { SweepSettings } from './options.ts'
import { readFleetFile, type Selected, type SelectionFlags, selectClusters } from './select.ts'
import { usageError } from './usage.ts'

export interface LiveInputs {
  readonly flags: SelectionFlags & { readonly kubeconfig?: string }
  readonly settings: SweepSettings
  /** $KUBECONFIG. */
  readonly variable: string | undefined
}

/** @throws CommandFailure, a usage error: before any cluster is asked. */
export function liveTargets({ flags, settings, variable }: LiveInputs): readonly Target[] {
  const entries = flags.fleetFile === undefined ? undefined : readFleetFile(flags.fleetFile)
  const open = kubeconfigReader()
  const fileOf = (kubeconfig?: string): KubeconfigFile =>
    open(kubeconfigPath(kubeconfig ?? flags.kubeconfig, variable))
  const selected = selectClusters({ flags, entries, available: fileOf })
  return selected
    .map((one) => ({ ...one, access: accessTo(one, fileOf(one.kubeconfig)) }))
    .map((one) => targetOf(one, settings))
}

/** @throws CommandFailure, also for what is no cluster: the mirror answers when the cluster is gone. */
function accessTo(one: Selected, file: KubeconfigFile): MemberAccess {
  const access = file.accessTo(one.context, identityOf(one))
  if (!access.server.pathname.includes(FLEET_PREFIX)) return access
  const name = JSON.stringify(sanitiseName(identityOf(one)))
  throw usageError(
    `${name} is served by fleetglass, from its mirror: judge that with --source store --kubeconfig FILE`,
  )
}

function targetOf(
  { context, name, access }: Selected & { readonly access: MemberAccess },
  settings: SweepSettings,
): Target {
  return {
    context,
    ...(name !== undefined && { name }),
    observe: async (signal) => {
      const reader = memberReader(access)
      try {
        return await observeLive({
          ...{ reader, signal, clock: systemClock },
          budgetMilliseconds: settings.clusterTimeoutMilliseconds,
          ...(settings.namespace !== undefined && { namespace: settings.namespace }),
          ...(settings.rules.nodes && { nodes: true }),
        })
      } finally {
        await reader.close()
      }
    },
  }
}
