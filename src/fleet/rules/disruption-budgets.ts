/** PodDisruptionBudgets that protect nothing or let no node be drained: one issue each. */
import { count, type Fields, isSet } from '../../printers/read-field.ts'
import type { Finding, IssueName } from '../issue.ts'
import type { Observation } from '../observation.ts'
import { placeOf, specOf, statusOf } from '../read-object.ts'

export function disruptionBudgetIssues({ lists }: Observation): readonly Finding[] {
  return (lists.poddisruptionbudgets ?? []).flatMap((budget) => {
    const issue = issueOf(budget)
    if (!issue) return []
    return [{ issue, kind: 'PodDisruptionBudget', ...placeOf(budget), reason: REASON[issue] }]
  })
}

type BudgetIssue = Extract<IssueName, `PDB${string}`>

const REASON: Readonly<Record<BudgetIssue, string>> = {
  PDBUnsatisfiable: 'it allows no pod to be evicted, ever',
  PDBStale: 'it selects no pod',
  PDBSingleton: 'it protects a single pod, which can never be evicted',
  PDBBlocked: 'fewer pods are healthy than it wants, so none may be evicted',
}

function issueOf(budget: Fields): BudgetIssue | undefined {
  const { minAvailable, maxUnavailable } = specOf(budget)
  if (!isSet(minAvailable) && !isSet(maxUnavailable)) return 'PDBUnsatisfiable'
  const status = statusOf(budget)
  const expected = count(status.expectedPods)
  const desired = count(status.desiredHealthy)
  if (expected === 0) return 'PDBStale'
  if (expected === 1 && desired >= 1) return 'PDBSingleton'
  if (expected > 1 && desired >= expected) return 'PDBUnsatisfiable'
  const isShort = count(status.currentHealthy) < desired
  return count(status.disruptionsAllowed) === 0 && isShort ? 'PDBBlocked' : undefined
}
