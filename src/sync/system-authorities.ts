/**
 * Whom this machine trusts: the authorities of the operating system, as for client-go, and those of
 * NODE_EXTRA_CA_CERTS. A machine without any (a bare container) has those that Node brings along.
 */
import { getCACertificates } from 'node:tls'

let known: readonly string[] | undefined

/** PEM, one certificate each. Read once: it is some hundred certificates. */
export function systemAuthorities(): readonly string[] {
  known ??= readAuthorities()
  return known
}

function readAuthorities(): readonly string[] {
  const system = getCACertificates('system')
  const own = system.length > 0 ? system : getCACertificates('bundled')
  return [...new Set([...own, ...getCACertificates('extra')])]
}
