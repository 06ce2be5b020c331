/**
 * The certificates of an installation in a management cluster: the CAs and the serving certificate
 * in Secrets, and the CAs in the APIServices that point at us, by which the aggregator verifies us.
 *
 * Every step looks at what is there and does what is due, so that it can be broken off anywhere and
 * run again. A new CA is told to the aggregator before anything is signed with it.
 */
import { type ManagementClient, MERGE_PATCH } from '../../management/client.ts'
import { hasStatus, orMissing } from '../../management/management-error.ts'
import { type Authorities, bundleOf, renewAuthorities } from './authorities.ts'
import {
  belongTogether,
  hasNames,
  isSignedBy,
  issueCertificate,
  isValidFor,
  type KeyPair,
} from './issue.ts'
import { FIELD_MANAGER, readSecret, type StoredSecret, writeSecret } from './secrets.ts'

export const CA_SECRET = 'fleetglass-ca'
export const SERVING_SECRET = 'fleetglass-serving-cert'
/** In the namespace of the client. */
export const SERVICE = 'fleetglass-apiserver'
export const API_SERVICES = ['v1beta1.clusterpedia.io', 'v1alpha1.fleet.fleetglass.io']

const SERVING = { days: 90, renewDays: 30 }

export interface KeepRequest {
  readonly client: ManagementClient
  /** By which the server is reached, beside those of its Service. */
  readonly names: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

const MOST_TRIES = 5

/**
 * @returns what was done, a sentence each; none when nothing was due.
 * @throws ManagementError
 */
export async function keepCertificates(request: KeepRequest): Promise<readonly string[]> {
  const done: string[] = []
  for (let tries = 1; ; tries++) {
    try {
      const authorities = await keepAuthorities(request, done)
      const bundle = bundleOf(authorities)
      for (const name of API_SERVICES) await keepApiService(request.client, { name, bundle }, done)
      await keepServing(request, { authority: authorities.current, bundle }, done)
      return done
    } catch (error) {
      // Somebody else has written meanwhile: another run of ours, or `kubectl apply`.
      if (!hasStatus(error, 409) || tries === MOST_TRIES) throw error
    }
  }
}

async function keepAuthorities({ client, now }: KeepRequest, done: string[]): Promise<Authorities> {
  const secret = await readSecret(client, CA_SECRET)
  const stored = authoritiesIn(secret)
  const kept = await renewAuthorities(stored, now)
  if (kept === stored) return kept
  const { current, next, retired } = kept
  await writeSecret(client, secret, {
    'tls.crt': current.cert,
    'tls.key': current.key,
    'next.crt': next?.cert,
    'next.key': next?.key,
    'retired.crt': retired.length > 0 ? retired.join('') : undefined,
  })
  done.push(whatChanged(stored, kept))
  return kept
}

function whatChanged(before: Authorities | undefined, { current, next }: Authorities): string {
  if (!before) return 'made a CA'
  if (before.current !== current) return 'signing with the next CA from now on'
  return next && !before.next ? 'made the next CA' : 'forgot a CA that has ended'
}

function authoritiesIn({ data }: StoredSecret): Authorities | undefined {
  const current = pairIn(data, 'tls')
  const next = pairIn(data, 'next')
  const { 'retired.crt': retired = '' } = data
  return current && { current, ...(next && { next }), retired: certificatesIn(retired) }
}

function pairIn(data: StoredSecret['data'], name: string): KeyPair | undefined {
  const { [`${name}.crt`]: cert, [`${name}.key`]: key } = data
  if (cert === undefined || key === undefined) return undefined
  return belongTogether({ cert, key }) ? { cert, key } : undefined
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
}

interface ApiService {
  readonly metadata: { readonly resourceVersion: string }
  readonly spec: {
    readonly caBundle?: string
    readonly service?: { readonly name: string; readonly namespace: string }
  }
}

async function keepApiService(
  client: ManagementClient,
  { name, bundle }: { readonly name: string; readonly bundle: string },
  done: string[],
): Promise<void> {
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/${name}`
  const found = await orMissing(client.request('GET', path))
  if (!found) return
  const { metadata, spec } = found.body as ApiService
  // Clusterpedia's, for as long as it is not pointed at us.
  if (spec.service?.name !== SERVICE || spec.service.namespace !== client.namespace) return
  const caBundle = Buffer.from(bundle).toString('base64')
  if (spec.caBundle === caBundle) return
  await client.request('PATCH', path, {
    contentType: MERGE_PATCH,
    query: { fieldManager: FIELD_MANAGER },
    body: {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { caBundle, insecureSkipTLSVerify: false },
    },
  })
  done.push(`told the aggregator whom to trust for ${name}`)
}

async function keepServing(
  { client, names, now }: KeepRequest,
  { authority, bundle }: { readonly authority: KeyPair; readonly bundle: string },
  done: string[],
): Promise<void> {
  const secret = await readSecret(client, SERVING_SECRET)
  const wanted = [...serviceNames(client.namespace), ...names]
  const stored = pairIn(secret.data, 'tls')
  const isGood =
    stored &&
    isValidFor(stored, { now, days: SERVING.renewDays }) &&
    isSignedBy(stored, authority) &&
    hasNames(stored, wanted)
  if (isGood && secret.data['ca.crt'] === bundle) return
  const subject = [{ CN: [`${SERVICE}.${client.namespace}.svc`] }]
  const { days } = SERVING
  const pair = isGood
    ? stored
    : await issueCertificate({ authority, subject, names: wanted, now, days })
  await writeSecret(client, secret, {
    'tls.crt': pair.cert,
    'tls.key': pair.key,
    'ca.crt': bundle,
  })
  done.push(isGood ? 'put the CAs beside the certificate' : 'made a certificate')
}

function serviceNames(namespace: string): readonly string[] {
  const service = `${SERVICE}.${namespace}.svc`
  return [SERVICE, `${SERVICE}.${namespace}`, service, `${service}.cluster.local`]
}
