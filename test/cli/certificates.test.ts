/** Certificates of a management cluster: made, renewed before their end, and CAs that overlap. */
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  API_SERVICES,
  CA_SECRET,
  keepCertificates,
  SERVICE,
  SERVING_SECRET,
} from '../../src/cli/certificates/keep-certificates.ts'
import { run } from '../../src/cli/run.ts'
import {
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'

const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
const APIS = '/apis/apiregistration.k8s.io/v1/apiservices'
const DAY = 24 * 3600 * 1000
const START = Date.now()
const MERGE = { contentType: 'application/merge-patch+json' }
const [CLUSTERPEDIA, FLEET] = API_SERVICES as [string, string]

let cluster: ManagementCluster

beforeAll(async () => {
  cluster = await startManagementCluster()
})
afterAll(() => cluster.stop())

beforeEach(async () => {
  for (const path of [...secretPaths(), ...API_SERVICES.map((name) => `${APIS}/${name}`)]) {
    await cluster.admin.request('DELETE', path).catch(() => undefined)
  }
  await point(CLUSTERPEDIA, SERVICE)
  await point(FLEET, SERVICE)
})

test('the first time: a CA, a certificate by it, and an aggregator that knows', async () => {
  expect(await keep(0)).toEqual([
    'made a CA',
    `told the aggregator whom to trust for ${CLUSTERPEDIA}`,
    `told the aggregator whom to trust for ${FLEET}`,
    'made a certificate',
  ])
  const { serving, bundle } = await state()
  expect(serving.subjectAltName).toBe(
    [
      SERVICE,
      `${SERVICE}.${NAMESPACE}`,
      `${SERVICE}.${NAMESPACE}.svc`,
      `${SERVICE}.${NAMESPACE}.svc.cluster.local`,
    ]
      .map((name) => `DNS:${name}`)
      .join(', '),
  )
  expect(verifiedBy(serving, bundle)).toBe(true)
  expect(await caBundleOf(CLUSTERPEDIA)).toBe(bundle)
  expect(await caBundleOf(FLEET)).toBe(bundle)
})

test('again: nothing', async () => {
  await keep(0)
  const before = await state()
  expect(await keep(1)).toEqual([])
  expect(await state()).toEqual(before)
})

test('a certificate is renewed a month before its end, by the same CA', async () => {
  await keep(0)
  const before = await state()
  expect(await keep(59)).toEqual([])
  expect(await keep(61)).toEqual(['made a certificate'])
  const after = await state()
  expect(after.bundle).toBe(before.bundle)
  expect(after.serving.serialNumber).not.toBe(before.serving.serialNumber)
  expect(verifiedBy(after.serving, after.bundle)).toBe(true)
})

test('a new name makes a new certificate', async () => {
  await keep(0)
  expect(await keep(0, ['fleet.example.com', '10.0.0.7'])).toEqual(['made a certificate'])
  const { serving } = await state()
  expect(serving.subjectAltName).toContain('DNS:fleet.example.com, IP Address:10.0.0.7')
})

describe('a CA that comes to its end', () => {
  test('is followed by one that is trusted long before it signs', async () => {
    await keep(0)
    const first = await state()

    expect(await keep(3650 - 360)).toContain('made the next CA')
    const both = await state()
    expect(certificatesIn(both.bundle)).toHaveLength(2)
    expect(both.bundle.startsWith(first.bundle)).toBe(true)
    // Whoever holds only the first is still served.
    expect(verifiedBy(both.serving, first.bundle)).toBe(true)
    expect(await caBundleOf(FLEET)).toBe(both.bundle)

    expect(await keep(3650 - 170)).toEqual([
      'signing with the next CA from now on',
      `told the aggregator whom to trust for ${CLUSTERPEDIA}`,
      `told the aggregator whom to trust for ${FLEET}`,
      'made a certificate',
    ])
    const second = await state()
    expect(verifiedBy(second.serving, first.bundle)).toBe(false)
    // Whoever read the CAs since there were two is served, and so is an old certificate.
    expect(verifiedBy(second.serving, both.bundle)).toBe(true)
    expect(verifiedBy(both.serving, second.bundle)).toBe(true)

    expect(await keep(3650 + 1)).toContain('forgot a CA that has ended')
    expect(certificatesIn((await state()).bundle)).toHaveLength(1)
  })

  test('without anybody having looked: a new one at once', async () => {
    await keep(0)
    expect(await keep(3700)).toContain('signing with the next CA from now on')
    const { serving, bundle } = await state()
    expect(verifiedBy(serving, bundle)).toBe(true)
  })
})

test('Clusterpedia’s own API is left alone until it is pointed at us', async () => {
  await point(CLUSTERPEDIA, 'clusterpedia-apiserver')
  expect(await keep(0)).not.toContain(`told the aggregator whom to trust for ${CLUSTERPEDIA}`)
  expect(await caBundleOf(CLUSTERPEDIA)).toBe('')
  await point(CLUSTERPEDIA, SERVICE)
  expect(await keep(0)).toEqual([`told the aggregator whom to trust for ${CLUSTERPEDIA}`])
  expect((await get(`${APIS}/${CLUSTERPEDIA}`)).spec.insecureSkipTLSVerify).toBe(false)
})

test('an APIService that is not there is waited for', async () => {
  for (const name of API_SERVICES) await cluster.admin.request('DELETE', `${APIS}/${name}`)
  expect(await keep(0)).toEqual(['made a CA', 'made a certificate'])
  await point(FLEET, SERVICE)
  expect(await keep(0)).toEqual([`told the aggregator whom to trust for ${FLEET}`])
})

test('what was damaged is made anew', async () => {
  await keep(0)
  const data = { 'tls.key': Buffer.from('no key').toString('base64') }
  await cluster.admin.request('PATCH', secretPaths()[1]!, { ...MERGE, body: { data } })
  expect(await keep(0)).toEqual(['made a certificate'])
  await cluster.admin.request('PATCH', secretPaths()[0]!, { ...MERGE, body: { data } })
  expect(await keep(0)).toContain('made a CA')
  const { serving, bundle } = await state()
  expect(verifiedBy(serving, bundle)).toBe(true)
})

test('several at once agree on one CA', async () => {
  await Promise.all([keep(0), keep(0), keep(0)])
  const { serving, bundle } = await state()
  expect(certificatesIn(bundle)).toHaveLength(1)
  expect(verifiedBy(serving, bundle)).toBe(true)
  expect(await caBundleOf(FLEET)).toBe(bundle)
  expect(await keep(0)).toEqual([])
})

test('the command does it, and says in a sentence why it cannot', async () => {
  expect(await run(['certificates', '--kubeconfig', cluster.kubeconfig])).toBe(0)
  expect(verifiedBy((await state()).serving, await caBundleOf(FLEET))).toBe(true)
  expect(await run(['certificates', '--kubeconfig', '/nowhere'])).toBe(1)
})

function keep(days: number, names: readonly string[] = []): Promise<readonly string[]> {
  return keepCertificates({ client: cluster.admin, names, now: START + days * DAY })
}

function secretPaths(): readonly string[] {
  return [CA_SECRET, SERVING_SECRET].map((name) => `${SECRETS}/${name}`)
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function get(path: string): Promise<any> {
  return (await cluster.admin.request('GET', path)).body
}

/** As `kubectl apply` does, which leaves caBundle alone. */
async function point(name: string, service: string): Promise<void> {
  const [version, ...group] = name.split('.')
  const body = {
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name } },
    spec: {
      ...{ group: group.join('.'), version, groupPriorityMinimum: 1000, versionPriority: 100 },
      insecureSkipTLSVerify: service !== SERVICE,
      service: { name: service, namespace: NAMESPACE, port: 443 },
    },
  }
  const query = { fieldManager: 'test', force: 'true' }
  const contentType = 'application/apply-patch+yaml'
  await cluster.admin.request('PATCH', `${APIS}/${name}`, { body, query, contentType })
}

async function state() {
  const { data } = await get(secretPaths()[1]!)
  const text = (key: string) => Buffer.from(data[key], 'base64').toString()
  return { serving: new X509Certificate(text('tls.crt')), bundle: text('ca.crt') }
}

async function caBundleOf(name: string): Promise<string> {
  const { spec } = await get(`${APIS}/${name}`)
  return Buffer.from(spec.caBundle ?? '', 'base64').toString()
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  return pem
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter(Boolean)
    .map((one) => new X509Certificate(one))
}

function verifiedBy(certificate: X509Certificate, bundle: string): boolean {
  return certificatesIn(bundle).some((authority) => certificate.verify(authority.publicKey))
}
