/**
 * Asks a member how it is: one version, one identity, with the client that the sync uses.
 *
 * Owns     what a failing member is said to suffer from, expired certificates by their date.
 */
import { connect } from 'node:tls'
import { printable } from '../kube/printable.ts'
import type { MemberAccess } from './member-access.ts'
import type { MemberClient } from './member-client.ts'
import { MemberError } from './member-error.ts'
import { expiryOf } from './pem.ts'

export interface Health {
  /** `v1.33.1` */
  readonly version: string
  /** The /version document, as the member sent it. */
  readonly versionDocument: string
  /** uid of kube-system: another control plane has another. `''` when it may not be read. */
  readonly controlPlaneUid: string
}

const METADATA_ONLY =
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json'
const PROBE_MILLISECONDS = 5_000
/** The document is served to everybody who may see the cluster, and its version is in every Table. */
const VERSION_DOCUMENT_MOST_BYTES = 64 * 1024
const VERSION_MOST_CHARACTERS = 64

/** @throws MemberError saying what is wrong. */
export async function checkHealth(
  client: MemberClient,
  access: MemberAccess,
  signal: AbortSignal,
): Promise<Health> {
  try {
    const { body } = await client.read({ path: '/version', asked: 'read the version', signal })
    if (body.length > VERSION_DOCUMENT_MOST_BYTES) throw noApiServer()
    const versionDocument = body.toString('utf8')
    const version = readVersion(versionDocument)
    return { version, versionDocument, controlPlaneUid: await readIdentity(client, signal) }
  } catch (error) {
    if (!(error instanceof MemberError)) throw error
    throw (await expiredCertificate(access, error)) ?? error
  }
}

function readVersion(document: string): string {
  try {
    const { gitVersion } = JSON.parse(document) as { gitVersion?: unknown }
    if (typeof gitVersion === 'string') {
      return printable(gitVersion.slice(0, VERSION_MOST_CHARACTERS))
    }
  } catch (error) {
    throw noApiServer(error)
  }
  throw noApiServer()
}

function noApiServer(cause?: unknown): MemberError {
  return new MemberError('rubbish', 'no Kubernetes API server answers there', { cause })
}

async function readIdentity(client: MemberClient, signal: AbortSignal): Promise<string> {
  try {
    const namespace = (await client.readJson({
      path: '/api/v1/namespaces/kube-system',
      accept: METADATA_ONLY,
      asked: 'get the namespace kube-system',
      signal,
    })) as { metadata?: { uid?: unknown } } | null
    const uid = namespace?.metadata?.uid
    return typeof uid === 'string' && /^[\x21-\x7e]{1,128}$/.test(uid) ? uid : ''
  } catch (error) {
    const known = error instanceof MemberError && ['forbidden', 'not-found'].includes(error.failure)
    if (known) return ''
    throw error
  }
}

/** Names the certificate that has expired, if that is why. */
async function expiredCertificate(
  access: MemberAccess,
  error: MemberError,
): Promise<MemberError | undefined> {
  if (!['certificate', 'unauthorized', 'unreachable'].includes(error.failure)) return undefined
  const { cert } = await access.authorize().catch(() => ({ cert: undefined }))
  const client = cert === undefined ? undefined : expiryOf(cert)
  if (client && client.getTime() < Date.now())
    return expired('the client certificate', client, error)
  if (error.failure !== 'certificate') return undefined
  const server = await serverCertificateExpiry(access)
  if (!server || server.getTime() >= Date.now()) return undefined
  return expired('the certificate of the API server', server, error)
}

function expired(whose: string, at: Date, cause: MemberError): MemberError {
  const day = at.toISOString().slice(0, 10)
  return new MemberError('certificate', `CertificateExpired on ${day}: ${whose}`, { cause })
}

/** The connection that failed did not say when; this one only looks at the certificate. */
async function serverCertificateExpiry({
  server,
  serverName,
}: MemberAccess): Promise<Date | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      host: server.hostname,
      port: Number(server.port || 443),
      ...(serverName !== undefined && { servername: serverName }),
      rejectUnauthorized: false,
    })
    const finish = (at: Date | undefined) => {
      socket.destroy()
      resolve(at)
    }
    socket.setTimeout(PROBE_MILLISECONDS, () => finish(undefined))
    socket.once('error', () => finish(undefined))
    socket.once('secureConnect', () => {
      const until = new Date(socket.getPeerCertificate().valid_to)
      finish(Number.isNaN(until.getTime()) ? undefined : until)
    })
  })
}
