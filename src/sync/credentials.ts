/**
 * From a PediaCluster, or a kubeconfig of our own command line, to how its cluster is reached.
 *
 * A PediaCluster is written by someone who may not be the server's administrator: it may hold
 * credentials, and may not make this process read files or run programs. Kubeconfigs from the
 * command line may do both.
 */
import { type PediaClusterSpec, SKIP_VERIFY_ANNOTATION } from '../kube/pedia-cluster.ts'
import { bearer, inlineAuthorization, keyPair } from './inline-credentials.ts'
import { base64Field, type KubeconfigContext, readKubeconfig, textField } from './kubeconfig.ts'
import { type Authorization, InvalidConfig, type MemberAccess } from './member-access.ts'
import { checkedCertificates } from './pem.ts'
import { trustedAccess } from './trusted-credentials.ts'

/** A kubeconfig given on our own command line, for the PediaCluster `name`. */
export interface TrustedKubeconfig {
  readonly name: string
  readonly kubeconfig: string
  /** Left out: its current-context. */
  readonly context?: string
  /** Relative paths in it are relative to this folder: that of the file. */
  readonly baseDir: string
}

export interface SpecOptions {
  /** Asked for by {@link SKIP_VERIFY_ANNOTATION}: whoever is at the address gets the credentials. */
  readonly insecure?: boolean
}

/** @throws InvalidConfig naming the field. */
export function accessFromSpec(
  spec: PediaClusterSpec,
  { insecure = false }: SpecOptions = {},
): MemberAccess {
  const fields = spec as unknown as Readonly<Record<string, unknown>>
  if (fields.authenticationFrom !== undefined) {
    throw new InvalidConfig(
      'spec.authenticationFrom needs a management cluster to read Secrets from',
    )
  }
  const kubeconfig = base64Field(fields, 'kubeconfig', 'spec')
  if (kubeconfig) {
    return credentialsFromKubeconfig(kubeconfig.toString('utf8'), {
      field: 'spec.kubeconfig',
      trusted: false,
      insecure,
    })
  }
  if (!spec.apiserver) {
    throw new InvalidConfig('one of spec.kubeconfig and spec.apiserver is required')
  }
  const server = serverUrl(spec.apiserver, 'spec.apiserver')
  const ca = base64Field(fields, 'caData', 'spec')
  refuseUnusedCa({ ca, insecure }, `the annotation ${SKIP_VERIFY_ANNOTATION}`, 'spec.caData')
  const token = base64Field(fields, 'tokenData', 'spec')?.toString('utf8')
  const cert = base64Field(fields, 'certData', 'spec')
  const key = base64Field(fields, 'keyData', 'spec')
  return {
    server,
    ...(ca && { ca: checkedCertificates(ca, 'spec.caData') }),
    insecure,
    ...fixed({
      headers: token === undefined ? {} : bearer(token, 'spec.tokenData'),
      ...keyPair({ cert, key }, { cert: 'spec.certData', key: 'spec.keyData' }),
    }),
  }
}

export interface KubeconfigOptions {
  /** Where the text stands, for messages: `spec.kubeconfig`, or a file's name. */
  readonly field: string
  readonly context?: string
  /** Given on our own command line: files are read, plugins run. */
  readonly trusted: boolean
  readonly baseDir?: string
  /** As in {@link SpecOptions}; a kubeconfig may ask for it itself. */
  readonly insecure?: boolean
}

/** @throws InvalidConfig naming the field. */
export function credentialsFromKubeconfig(text: string, options: KubeconfigOptions): MemberAccess {
  const read = readKubeconfig(text, options)
  const { cluster, clusterField, user, userField } = read
  const serverText = textField(cluster, 'server', clusterField)
  if (!serverText) throw new InvalidConfig(`${clusterField}.server is not set`)
  const transport = transportOf(read)
  const shared = {
    server: serverUrl(serverText, `${clusterField}.server`),
    ...transport,
    insecure: transport.insecure || options.insecure === true,
  }
  if (options.trusted) return trustedAccess(shared, read, options.baseDir ?? '.')
  for (const name of ['certificate-authority'] as const) {
    if (cluster[name] !== undefined) throw refused(`${clusterField}.${name}`)
  }
  for (const name of UNTRUSTED) {
    if (user[name] !== undefined && user[name] !== null) throw refused(`${userField}.${name}`)
  }
  const ca = base64Field(cluster, 'certificate-authority-data', clusterField)
  const caField = `${clusterField}.certificate-authority-data`
  refuseUnusedCa({ ca, insecure: shared.insecure }, 'leaving out verification', caField)
  return {
    ...shared,
    ...(ca && { ca: checkedCertificates(ca, caField) }),
    ...fixed(inlineAuthorization(read)),
  }
}

/** What makes this process read a file or run a program, and what no server takes any more. */
const UNTRUSTED = [
  'exec',
  'tokenFile',
  'auth-provider',
  'client-certificate',
  'client-key',
] as const

function refused(field: string): InvalidConfig {
  return new InvalidConfig(
    `${field} is not allowed in a PediaCluster: give the credentials themselves, or start the server with --import-kubeconfig`,
  )
}

function transportOf({ cluster, clusterField }: KubeconfigContext) {
  const serverName = textField(cluster, 'tls-server-name', clusterField)
  const proxyUrl = textField(cluster, 'proxy-url', clusterField)
  if (proxyUrl !== undefined) serverUrl(proxyUrl, `${clusterField}.proxy-url`, PROXY_PROTOCOLS)
  return {
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(serverName && { serverName }),
    ...(proxyUrl && { proxyUrl }),
  }
}

/** As in client-go: two wishes that contradict each other, and one of them is dangerous. */
function refuseUnusedCa(
  of: { readonly ca: Buffer | undefined; readonly insecure: boolean },
  wish: string,
  caField: string,
): void {
  if (!of.insecure || of.ca === undefined) return
  throw new InvalidConfig(`${caField} has no effect with ${wish}: give one of them only`)
}

const PROXY_PROTOCOLS = ['http:', 'https:', 'socks5:']

function serverUrl(text: string, field: string, protocols = ['http:', 'https:']): URL {
  // client-go takes "host:port" too, and means https.
  const url = /^[a-z0-9+.-]+:\/\//i.test(text) ? text : `https://${text}`
  if (!URL.canParse(url)) throw new InvalidConfig(`${field} is not a URL`)
  const parsed = new URL(url)
  if (!protocols.includes(parsed.protocol)) {
    throw new InvalidConfig(
      `${field} must start with ${protocols.map((one) => `${one}//`).join(' or ')}`,
    )
  }
  const { username, password, search, hash } = parsed
  if (protocols !== PROXY_PROTOCOLS && `${username}${password}${search}${hash}` !== '') {
    throw new InvalidConfig(`${field} must be a plain URL, without user or query`)
  }
  return parsed
}

/** Credentials that change only when their registration does. */
function fixed(authorization: Authorization): Pick<MemberAccess, 'authorize' | 'renew'> {
  return { authorize: async () => authorization, renew: () => false }
}

/** A server that was not accepted, for a status: one with a password, a query or no sense is not shown. */
export function shownServer(text: string | undefined): string | undefined {
  if (!text) return undefined
  try {
    serverUrl(text, 'spec.apiserver')
    return text
  } catch (error) {
    if (error instanceof InvalidConfig) return undefined
    throw error
  }
}
