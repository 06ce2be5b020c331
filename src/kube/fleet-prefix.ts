/** Where Clusterpedia's users find their fleet, and each member cluster of it. */

export const FLEET_GROUP = 'clusterpedia.io'
export const FLEET_VERSION = 'v1beta1'

/** The whole fleet as one API server; any Kubernetes path may follow. */
export const FLEET_PREFIX = `/apis/${FLEET_GROUP}/${FLEET_VERSION}/resources`

/** One member cluster as an API server; any Kubernetes path may follow. */
export function memberPrefix(cluster: string): string {
  return `${FLEET_PREFIX}/clusters/${encodeURIComponent(cluster)}`
}

/** The server itself, of a URL that our kubeconfigs point at: the fleet, or one member. */
export function serverRoot(server: URL): URL {
  const root = new URL(server)
  const at = root.pathname.indexOf(FLEET_PREFIX)
  if (at >= 0) root.pathname = root.pathname.slice(0, at)
  return root
}
