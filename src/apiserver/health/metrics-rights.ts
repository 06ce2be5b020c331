/** Who may read /metrics: it tells of all clusters, whoever asks. */
import { type Identity, MASTERS_GROUP } from '../identity.ts'

/** Kubernetes' own group for what scrapes an API server. */
const MONITORING_GROUP = 'system:monitoring'

export function mayReadMetrics({ groups }: Identity): boolean {
  return groups.includes(MASTERS_GROUP) || groups.includes(MONITORING_GROUP)
}
