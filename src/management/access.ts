/**
 * How the API server of the management cluster is reached: as the service account of our pod, or as
 * a kubeconfig on our own command line says.
 */
import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { credentialsFromKubeconfig } from '../sync/credentials.ts'
import { readKubeconfig } from '../sync/kubeconfig.ts'
import { InvalidConfig, type MemberAccess } from '../sync/member-access.ts'
import { trustedAccess } from '../sync/trusted-credentials.ts'

export interface ManagementAccess {
  readonly member: MemberAccess
  /** Ours: that of the pod, or of the kubeconfig's context; `default` where neither says. */
  readonly namespace: string
}

const DEFAULT_NAMESPACE = 'default'

/** Tokens, certificates and plugins in it are used as kubectl uses them. @throws InvalidConfig */
export function accessFromKubeconfigFile(path: string): ManagementAccess {
  const file = resolve(path)
  const text = readText(file, '--kubeconfig')
  const field = `--kubeconfig (${basename(file)})`
  const { namespace = DEFAULT_NAMESPACE } = readKubeconfig(text, { field })
  const options = { field, trusted: true, baseDir: dirname(file) }
  return { member: credentialsFromKubeconfig(text, options), namespace }
}

/** Where kubelet puts the files of a pod's service account. */
export const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface ServiceAccountPlace {
  /** KUBERNETES_SERVICE_HOST: a name or address; IPv6 without brackets. */
  readonly host: string
  readonly port: string
  /** Holds `token`, `ca.crt` and `namespace`; the token is read again as kubelet renews it. */
  readonly directory: string
}

/** @throws InvalidConfig when the files are not there. @see client-go/rest/config.go, InClusterConfig */
export function accessFromServiceAccount(place: ServiceAccountPlace): ManagementAccess {
  const { host, port, directory } = place
  const server = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const field = 'the service account'
  const member = trustedAccess(
    { server, insecure: false },
    {
      cluster: { 'certificate-authority': join(directory, 'ca.crt') },
      clusterField: field,
      user: { tokenFile: join(directory, 'token') },
      userField: field,
    },
    directory,
  )
  readText(join(directory, 'token'), field)
  return { member, namespace: namespaceIn(directory) }
}

function namespaceIn(directory: string): string {
  try {
    return readFileSync(join(directory, 'namespace'), 'utf8').trim() || DEFAULT_NAMESPACE
  } catch {
    return DEFAULT_NAMESPACE // a token can be projected without it
  }
}

function readText(path: string, field: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new InvalidConfig(`${field}: cannot read ${path}`, { cause: error })
  }
}
