/** Where a load balancer can be reached, for services and ingresses alike. */
import { fields, items, text } from './read-field.ts'

/** Addresses of `status.loadBalancer`, sorted and each once; a host name only where no IP is. */
export function loadBalancerAddresses(status: unknown): readonly string[] {
  const found = new Set<string>()
  for (const item of items(fields(fields(status).loadBalancer).ingress)) {
    const { ip, hostname } = fields(item)
    found.add(text(ip) || text(hostname))
  }
  found.delete('')
  return [...found].sort()
}
