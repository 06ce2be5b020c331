/** Every kubectl of this machine sends conditions as they are typed: none of it is refused by it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { makeCertificates } from '../support/certificates.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'
import { allKubectls, KubectlRunner } from '../support/kubectl.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

const folder = mkdtempSync(join(tmpdir(), 'fleetglass-search-'))
const kubeconfig = join(folder, 'kubeconfig')
let database: TestDatabase
let fleet: FleetServer

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
  const pod = (name: string, cpu: string) => ({
    metadata: metadata(name, { namespace: 'shop' }),
    spec: { containers: [{ resources: { requests: { cpu } } }], priority: name.length },
  })
  await cluster.fill(pods, [pod('small', '900m'), pod('large-one', '1500m')])
  await makeCertificates(folder)
  const [key, cert] = ['server.key', 'server.crt'].map((file) => readFileSync(join(folder, file)))
  fleet = await fleetServer(database.store, { tls: { key: key!, cert: cert! } })
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'fleet' },
    clusters: [
      {
        name: 'fleet',
        cluster: {
          server: (await fleet.listen()) + FLEET_PREFIX,
          'certificate-authority': join(folder, 'ca.crt'),
        },
      },
    ],
    users: [{ name: 'admin', user: { token: fleet.admin.token } }],
    contexts: [{ name: 'fleet', context: { cluster: 'fleet', user: 'admin' } }],
  }
  writeFileSync(kubeconfig, stringify(config))
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
  rmSync(folder, { recursive: true })
})

const CPU = 'spec.containers[].resources.requests.cpu'
const searches = [
  ['--field-selector', `${CPU}>1`],
  ['--field-selector', `${CPU} >= 1500m,spec.priority<1Ki`],
  ['-l', `search.clusterpedia.io/field-gt.spec.priority=5`],
  ['-l', `search.clusterpedia.io/field-gte.${CPU}=1`],
  ['-l', 'search.clusterpedia.io/field-lte.metadata.creationTimestamp=2027-01-01,a!=b'],
] as const

describe.each(allKubectls())('kubectl $version', (kubectl) => {
  test.each(searches)('%s %s', async (flag, text) => {
    const runner = new KubectlRunner(kubectl, kubeconfig)
    const { stdout, stderr } = await runner.run(['get', 'pods', '-A', '-o', 'name', flag, text])
    const all = text.includes('creationTimestamp')
      ? ['pod/large-one', 'pod/small']
      : ['pod/large-one']
    expect({ stderr, found: stdout.trim().split('\n') }).toEqual({ stderr: '', found: all })
  })
})
