/** The certificates that a client presented on the connection of a request. */
import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { PeerChain } from './certificate-bundle.ts'

/** A connection's certificates do not change, so they are read once. */
const read = new WeakMap<object, PeerChain | 'none'>()

/** Undefined over plain HTTP, and when the client presented none. */
export function peerChainOf({ socket }: Pick<IncomingMessage, 'socket'>): PeerChain | undefined {
  const known = read.get(socket) ?? readChain(socket as Partial<TLSSocket>) ?? 'none'
  read.set(socket, known)
  return known === 'none' ? undefined : known
}

function readChain(socket: Partial<TLSSocket>): PeerChain | undefined {
  const leaf = socket.getPeerX509Certificate?.()
  if (!leaf) return undefined
  const others: X509Certificate[] = []
  // On a server that has no CA of its own in TLS, these are what was sent, in its order.
  for (let next = leaf.issuerCertificate; next; next = next.issuerCertificate) others.push(next)
  return [leaf, ...others]
}

/** The names in a certificate's subject, in its order. */
export function subjectOf(
  certificate: X509Certificate,
): Readonly<Record<'CN' | 'O', readonly string[]>> {
  const { subject } = certificate.toLegacyObject() as {
    readonly subject?: Readonly<Record<string, string | string[] | undefined>>
  }
  return { CN: [subject?.CN ?? []].flat(), O: [subject?.O ?? []].flat() }
}
