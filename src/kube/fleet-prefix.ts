/** Where Clusterpedia's users find their fleet, and each member cluster of it. */

export const FLEET_GROUP = 'clusterpedia.io'
export const FLEET_VERSION = 'v1beta1'

/** The whole fleet as one API server; any Kubernetes path may follow. */
export const FLEET_PREFIX = `/apis/${FLEET_GROUP}/${FLEET_VERSION}/resources`

/** One member cluster as an API server; any Kubernetes path may follow. */
export function memberPrefix(cluster: string): string {
  return `${FLEET_PREFIX}/clusters/${encodeURIComponent(cluster)}`
}
