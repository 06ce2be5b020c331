/**
 * The ConfigMap in which kube-apiserver tells extension servers whom to believe: the CA and headers
 * of its front proxy, and the CA of its users.
 *
 * @see apiserver/pkg/server/options/authentication_dynamic_request_header.go
 */
import type { Clock } from '../../../clock.ts'
import type { Logger } from '../../../log.ts'
import type { ManagementClient } from '../../../management/client.ts'
import { followObjects } from '../../../management/follow-objects.ts'
import { CertificateBundle } from '../authentication/certificate-bundle.ts'
import type { RequestHeaderTrust } from '../authentication/request-header.ts'

const NAMESPACE = 'kube-system'
const NAME = 'extension-apiserver-authentication'
const CA_KEY = 'requestheader-client-ca-file'

export interface ToldTrust {
  readonly requestHeader?: RequestHeaderTrust
  readonly clientCa?: CertificateBundle
}

/** @throws Error naming the key that cannot be understood. */
export function trustToldBy(data: Readonly<Record<string, string | undefined>>): ToldTrust {
  const { [CA_KEY]: proxyCa, 'client-ca-file': clientCa } = data
  return {
    ...(proxyCa && {
      requestHeader: {
        ca: bundleIn(CA_KEY, proxyCa),
        allowedNames: namesIn(data, 'requestheader-allowed-names'),
        usernameHeaders: namesIn(data, 'requestheader-username-headers'),
        uidHeaders: namesIn(data, 'requestheader-uid-headers'),
        groupHeaders: namesIn(data, 'requestheader-group-headers'),
        extraPrefixes: namesIn(data, 'requestheader-extra-headers-prefix'),
      },
    }),
    ...(clientCa && { clientCa: bundleIn('client-ca-file', clientCa) }),
  }
}

function bundleIn(key: string, pem: string): CertificateBundle {
  try {
    return new CertificateBundle(pem)
  } catch (error) {
    throw new Error(`${key} holds no certificates that can be read`, { cause: error })
  }
}

/** A list as JSON; what is missing is an empty one. */
function namesIn(data: Readonly<Record<string, string | undefined>>, key: string) {
  const text = data[key]
  if (!text) return []
  const fault = new Error(`${key} must be a list of strings in JSON`)
  try {
    const names: unknown = JSON.parse(text)
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  } catch {
    throw fault
  }
  throw fault
}

export interface FollowedTrust {
  /** What was told last and could be understood; empty at first. */
  readonly told: ToldTrust
  /** Why the front proxy cannot be believed, in a sentence without secrets. */
  readonly trouble: string | undefined
  stop(): Promise<void>
}

export interface FollowTrustParts {
  readonly client: ManagementClient
  readonly clock: Clock
  readonly log: Logger
}

/** Follows the ConfigMap for as long as it runs, whether it is there or not. */
export function followTrust(parts: FollowTrustParts): FollowedTrust {
  const { log } = parts
  let told: ToldTrust = {}
  let trouble: string | undefined
  const followed = followObjects({
    ...parts,
    path: `/api/v1/namespaces/${NAMESPACE}/configmaps`,
    resource: 'configmaps',
    query: { fieldSelector: `metadata.name=${NAME}` },
    changed: take,
  })
  return {
    get told() {
      return told
    },
    get trouble() {
      if (told.requestHeader) return undefined
      return trouble ?? followed.trouble ?? missing('is not there')
    },
    stop: () => followed.stop(),
  }

  function take(): void {
    trouble = undefined
    const object = followed.objects?.get(`${NAMESPACE}/${NAME}`)
    // What was believed is not forgotten because the ConfigMap is gone for a moment.
    if (!object) return
    try {
      const { data = {} } = object as { readonly data?: Readonly<Record<string, string>> }
      told = trustToldBy(data)
      if (!told.requestHeader) trouble = missing(`has no ${CA_KEY}`)
    } catch (error) {
      trouble = missing(`cannot be used: ${(error as Error).message}`)
    }
    if (trouble === undefined) log.info('the trust in the front proxy was read')
    else log.warn({ trouble }, 'the trust in the front proxy cannot be read; the last one holds')
  }
}

function missing(what: string): string {
  return `the ConfigMap ${NAMESPACE}/${NAME} ${what}`
}
