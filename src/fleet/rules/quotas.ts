/** ResourceQuotas that are used up, or nearly: one issue for each resource of a quota. */
import { quantityNanos } from '../../printers/quantity.ts'
import { fields } from '../../printers/read-field.ts'
import type { Finding, IssueName } from '../issue.ts'
import type { Observation } from '../observation.ts'
import { placeOf, statusOf } from '../read-object.ts'

/** Near is nine tenths of the limit. */
const NEAR_TENTHS = 9n

export function quotaIssues({ lists }: Observation): readonly Finding[] {
  return (lists.resourcequotas ?? []).flatMap((quota) => {
    const { hard, used } = statusOf(quota)
    return Object.entries(fields(hard)).flatMap(([resource, limit]) => {
      const issue = issueOf(limit, fields(used)[resource])
      const reason = `${resource}: ${fields(used)[resource]} of ${limit} are used`
      return issue ? [{ issue, kind: 'ResourceQuota', ...placeOf(quota), reason }] : []
    })
  })
}

function issueOf(
  limit: unknown,
  use: unknown,
): Extract<IssueName, 'exhausted' | 'near'> | undefined {
  const hard = quantityNanos(limit)
  const used = quantityNanos(use)
  if (hard === undefined || used === undefined || hard <= 0n) return undefined
  if (used >= hard) return 'exhausted'
  return used * 10n >= hard * NEAR_TENTHS ? 'near' : undefined
}
