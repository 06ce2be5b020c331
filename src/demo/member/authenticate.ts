/** Who asks a member: a bearer token or a client certificate, else nobody. */
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

export interface TlsOptions {
  readonly key: string
  readonly cert: string
  /** Certificates signed by it are accepted; their common name is the user. */
  readonly clientCa?: string
}

/** The user's name, or undefined when the credentials are no good; `system:anonymous` without any. */
export function authenticate(
  message: IncomingMessage,
  tokens: ReadonlyMap<string, string>,
): string | undefined {
  const { authorization } = message.headers
  if (authorization !== undefined) {
    const token = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1]
    return token === undefined ? undefined : tokens.get(token)
  }
  return certificateName(message) ?? ANONYMOUS
}

export const ANONYMOUS = 'system:anonymous'

function certificateName({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const name = socket.getPeerCertificate().subject?.CN
  return Array.isArray(name) ? name[0] : name
}
