/** Clusters that are asked themselves, as kubeconfigs say how. */
import { systemClock } from '../../clock.ts'
import { observeLive } from '../../fleet/live-source.ts'
import { identityOf } from '../../fleet/outcome.ts'
import type { Target } from '../../fleet/sweep.ts'
import type { MemberAccess } from '../../sync/member-access.ts'
import { type KubeconfigFile, kubeconfigPath, kubeconfigReader } from './kubeconfig-contexts.ts'
import { memberReader } from './member-reader.ts'
import type { SweepSettings } from './options.ts'
import { readFleetFile, type Selected, type SelectionFlags, selectClusters } from './select.ts'

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
    .map((one) => ({
      ...one,
      access: fileOf(one.kubeconfig).accessTo(one.context, identityOf(one)),
    }))
    .map((one) => targetOf(one, settings))
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
