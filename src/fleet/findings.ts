/** Every rule over what was seen of one cluster. Pure: the same objects give the same findings. */
import type { Finding } from './issue.ts'
import type { Observation, RuleOptions } from './observation.ts'
import { autoscalerIssues } from './rules/autoscalers.ts'
import { claimIssues } from './rules/claims.ts'
import { disruptionBudgetIssues } from './rules/disruption-budgets.ts'
import { ingressIssues } from './rules/ingresses.ts'
import { nodeIssues } from './rules/nodes.ts'
import { quotaIssues } from './rules/quotas.ts'
import { serviceIssues } from './rules/services.ts'
import { terminatingIssues } from './rules/terminating.ts'
import { webhookIssues } from './rules/webhooks.ts'
import { workloadIssues } from './rules/workload-issues.ts'

export function findingsIn(
  observation: Observation,
  options: RuleOptions = {},
): readonly Finding[] {
  return [
    ...workloadIssues(observation, options),
    ...serviceIssues(observation),
    ...ingressIssues(observation),
    ...claimIssues(observation),
    ...terminatingIssues(observation),
    ...disruptionBudgetIssues(observation),
    ...autoscalerIssues(observation),
    ...webhookIssues(observation),
    ...quotaIssues(observation),
    ...(options.nodes ? nodeIssues(observation) : []),
  ]
}
