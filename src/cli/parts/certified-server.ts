/**
 * The API server with the certificates of a data directory, and the kubeconfig that goes with them.
 * They are looked at every hour, and renewed in time without a restart.
 */
import { isIP } from 'node:net'
import { join } from 'node:path'
import { CertificateBundle } from '../../apiserver/access/authentication/certificate-bundle.ts'
import type { Config } from '../../config.ts'
import { writeKubeconfig } from '../data-dir/kubeconfig.ts'
import { ensurePki, type Pki } from '../data-dir/pki.ts'
import { type ApiServer, type ApiServerParts, startApiServer } from './api-server.ts'

export interface CertifiedServerParts
  extends Pick<
    ApiServerParts,
    | 'store'
    | 'registrations'
    | 'management'
    | 'readers'
    | 'direct'
    | 'proxiedListSeconds'
    | 'shutdown'
    | 'log'
    | 'clock'
    | 'syncerMetrics'
    | 'registry'
  > {
  readonly dataDir: string
  readonly config: Config<
    'listen' | 'continueTokens' | 'readerStreams' | 'readerQueries' | 'tlsSan'
  >
  /** Entries of their own in the kubeconfig. */
  readonly memberClusters?: readonly string[]
}

export interface CertifiedServer {
  /** `https://127.0.0.1:8443` */
  readonly url: string
  readonly kubeconfig: string
  stop(): Promise<void>
}

const CHECK_EVERY_MILLISECONDS = 3600 * 1000

export async function startCertifiedServer(parts: CertifiedServerParts): Promise<CertifiedServer> {
  const { listen, continueTokens, readerStreams, readerQueries } = parts.config
  const pki = await currentPki(parts)
  const continueByDefault = continueTokens === 'always'
  const trusted = { ca: new CertificateBundle(pki.caCert) }
  const { direct } = parts
  const server = await startApiServer({
    ...parts,
    // Its own CA is what stands for its certificate, unless another was given.
    ...(direct && { direct: { ...direct, ca: () => direct.ca() ?? trusted.ca.pem } }),
    ...{ tls: pki.server, ownCas: () => [trusted.ca], listen, continueByDefault },
    readerLimits: { streams: readerStreams, queries: readerQueries },
  })
  const url = `https://${reachableHost(listen.host)}:${server.port}`
  const kubeconfig = join(parts.dataDir, 'kubeconfig')
  const served = { url, kubeconfig, server, trusted }
  try {
    writeAdminKubeconfig(parts, served, pki)
  } catch (error) {
    await server.stop()
    throw error
  }
  const stopping = new AbortController()
  const renewing = renew({ parts, served, pki }, stopping.signal)
  return {
    url,
    kubeconfig,
    async stop() {
      stopping.abort()
      await Promise.all([renewing, server.stop()])
    },
  }
}

/** What the data directory holds now, made or renewed where it is due. */
export function currentPki({
  dataDir,
  config,
  clock,
}: Pick<CertifiedServerParts, 'dataDir' | 'config' | 'clock'>): Promise<Pki> {
  const names = [config.listen.host, ...(config.tlsSan ?? [])]
  return ensurePki({ dataDir, names, now: clock.now() })
}

/** Where a client on this machine finds a server that listens on every address. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return isIP(host) === 6 ? `[${host}]` : host
}

interface Served {
  readonly url: string
  readonly kubeconfig: string
  readonly server: ApiServer
  /** Whose client certificates count. */
  readonly trusted: { ca: CertificateBundle }
}

function writeAdminKubeconfig(
  { memberClusters }: CertifiedServerParts,
  { url, kubeconfig }: Pick<Served, 'url' | 'kubeconfig'>,
  { admin, caCert }: Pki,
): void {
  writeKubeconfig({
    path: kubeconfig,
    at: { server: url, caCert },
    name: 'fleetglass',
    credential: admin,
    clusters: memberClusters ?? [],
  })
}

interface Renewal {
  readonly parts: CertifiedServerParts
  readonly served: Served
  readonly pki: Pki
}

async function renew({ parts, served, pki }: Renewal, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts
  let current = pki
  while (!signal.aborted) {
    await clock.sleep(CHECK_EVERY_MILLISECONDS, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      const next = await currentPki(parts)
      if (JSON.stringify(next) === JSON.stringify(current)) continue
      served.server.useCertificate(next.server)
      served.trusted.ca = new CertificateBundle(next.caCert)
      writeAdminKubeconfig(parts, served, next)
      current = next
      log.info('certificates were renewed')
    } catch (error) {
      log.error({ err: error }, 'cannot renew the certificates; tried again in an hour')
    }
  }
}
