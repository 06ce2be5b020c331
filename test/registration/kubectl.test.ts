/** The oldest and the newest kubectl of this machine against the registration API. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { CertificateBundle } from '../../src/apiserver/access/authentication/certificate-bundle.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { createCatalogCache } from '../../src/apiserver/catalog.ts'
import { storedOpenApi } from '../../src/apiserver/openapi/catalogue.ts'
import { registrationRoutes } from '../../src/apiserver/registration/plugin.ts'
import { untilKnown } from '../../src/apiserver/registration/until-known.ts'
import { buildServer } from '../../src/apiserver/server.ts'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import { createLogger } from '../../src/log.ts'
import {
  databaseAccessSource,
  databaseRegistrationSource,
} from '../../src/registration/database-source.ts'
import { REGISTRATION_KINDS } from '../../src/registration/kinds.ts'
import { registrationOpenApi } from '../../src/registration/open-api.ts'
import { createRegistrations, type Registrations } from '../../src/registration/registrations.ts'
import { acquireLease } from '../../src/store/leases.ts'
import { makeCertificates } from '../support/certificates.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { allKubectls, type KubectlResult, KubectlRunner } from '../support/kubectl.ts'
import { until } from '../support/until.ts'
import { base64, fleetAccess, pediaCluster, syncResources } from './registration-server.ts'

const all = allKubectls()
const kubectls = [...new Set([all.at(0), all.at(-1)])].filter((each) => each !== undefined)

let database: TestDatabase
let registrations: Registrations
let server: FastifyInstance
let folder = ''
const closers: Array<() => Promise<void>> = []

beforeAll(async () => {
  database = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-registration-'))
  await makeCertificates(folder)
  const pem = (file: string) => readFileSync(join(folder, file))
  const { store } = database
  const log = createLogger('silent')
  const clock = systemClock
  registrations = createRegistrations({ store, keyring: createKeyring(randomBytes(32)), clock })
  const catalog = await createCatalogCache(store, log)
  const source = databaseAccessSource(registrations)
  const access = await createAccess({ catalog, source, log, clock })
  const rootDocuments = registrationOpenApi()
  const clientCas = [new CertificateBundle(pem('ca.crt').toString())]
  server = await buildServer({
    ...{ store, catalog, access, log, clock, continueByDefault: true, metrics: new Registry() },
    tls: { key: pem('server.key'), cert: pem('server.crt') },
    trust: { clientCas: () => clientCas },
    root: { rootKinds: REGISTRATION_KINDS, rootDocuments, source: storedOpenApi(store) },
    plugins: [
      registrationRoutes({
        ...{ registrations, clock },
        authorize: (identity, request) => access.authorizeRegistration(identity, request),
        rightsOf: (identity) => access.rulesOf(identity),
        untilKnown: (clusters) => untilKnown(catalog, clusters),
      }),
    ],
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  closers.push(
    () => server.close(),
    () => access.close(),
    () => catalog.close(),
    () => registrations.close(),
    () => database.drop(),
  )
  const { port } = server.server.address() as AddressInfo
  writeFileSync(join(folder, 'kubeconfig'), kubeconfig(`https://127.0.0.1:${port}`))
})
afterAll(async () => {
  for (const close of closers) await close()
  rmSync(folder, { recursive: true, force: true })
})

function kubeconfig(url: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'u', user: { 'client-certificate': 'admin.crt', 'client-key': 'admin.key' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
}

test.runIf(kubectls.length === 0)('needs a kubectl', (context) => {
  context.skip('there is none on this machine')
})

describe.each(kubectls.map((kubectl) => [kubectl.version, kubectl] as const))(
  'kubectl %s',
  (_, kubectl) => {
    const cluster = `dot-${kubectl.version.replace('.', '-')}`
    let runner: KubectlRunner
    beforeAll(() => {
      runner = new KubectlRunner(kubectl, join(folder, 'kubeconfig'))
    })

    async function must(line: string, input?: object): Promise<string> {
      const { exitCode, stdout, stderr } = await tried(line, input)
      expect([line, exitCode, stderr.replace(/Warning: resource .*\n/, '')]).toEqual([line, 0, ''])
      return stdout
    }
    const tried = (line: string, input?: object): Promise<KubectlResult> =>
      runner.paste(line, input && stringify(input))

    const manifest = (spec: object = {}) =>
      pediaCluster(cluster, {
        syncResources: [{ group: 'apps', resources: ['deployments'] }],
        tokenData: base64('a-token'),
        ...spec,
      })

    test('apply, and apply again with a change', async () => {
      expect(await must('kubectl apply -f -', manifest())).toBe(
        `pediacluster.cluster.clusterpedia.io/${cluster} created\n`,
      )
      expect(await must('kubectl apply -f -', manifest({ shardingName: 'two' }))).toBe(
        `pediacluster.cluster.clusterpedia.io/${cluster} configured\n`,
      )
      const sharding = `kubectl get pediacluster ${cluster} -o jsonpath={.spec.shardingName}`
      expect(await must(sharding)).toBe('two')
      // What is left out of the manifest goes.
      await must('kubectl apply -f -', manifest())
      expect(await must(sharding)).toBe('')
    })

    test('apply of a List, which is what kubectl writes for several objects', async () => {
      const list = { apiVersion: 'v1', kind: 'List', items: [manifest()] }
      expect(await must('kubectl apply -f -', list)).toBe(
        `pediacluster.cluster.clusterpedia.io/${cluster} configured\n`,
      )
    })

    test('diff: nothing, although the secret is in the manifest; then one line', async () => {
      expect(await tried('kubectl diff -f -', manifest())).toMatchObject({
        exitCode: 0,
        stdout: '',
      })
      const changed = await tried('kubectl diff -f -', manifest({ shardingName: 'new' }))
      expect(changed.exitCode).toBe(1)
      expect(changed.stdout).toContain('+  shardingName: new')
      expect(changed.stdout).not.toContain(base64('a-token'))
    })

    test('server-side apply takes over from client-side apply', async () => {
      expect(
        await must('kubectl apply --server-side -f -', manifest({ shardingName: 'ssa' })),
      ).toContain('serverside-applied')
      expect(
        await must('kubectl apply --server-side -f -', manifest({ shardingName: 'ssa' })),
      ).toContain('serverside-applied')
      const conflict = await tried(
        'kubectl apply --server-side --field-manager=other -f -',
        manifest({ shardingName: 'theirs' }),
      )
      expect(conflict.stderr).toContain('conflict with "kubectl": .spec.shardingName')
    })

    test('apply again without a change, and then by the server: nothing is stored that was not said', async () => {
      const said = [syncResources(cluster), fleetAccess(cluster)]
      for (const object of said) {
        expect(await must('kubectl apply -f -', object)).toContain('created')
        expect(await must('kubectl apply -f -', object)).toContain('unchanged')
        expect(await must('kubectl apply --server-side -f -', object)).toContain('applied')
        expect(await must('kubectl delete -f -', object)).toContain('deleted')
      }
    })

    test('label, annotate, patch and edit', async () => {
      await must(`kubectl label pediacluster ${cluster} env=prod`)
      await must(`kubectl annotate pediacluster ${cluster} fleetglass.io/paused=true`)
      await must(
        `kubectl patch pediacluster ${cluster} --type=merge -p '{"spec":{"shardingName":"three"}}'`,
      )
      await must(
        `kubectl patch pediacluster ${cluster} --type=json -p '[{"op":"replace","path":"/spec/shardingName","value":"four"}]'`,
      )
      await must(`KUBE_EDITOR='sed -i s/four/five/' kubectl edit pediacluster ${cluster}`)
      expect(await must(`kubectl get pediaclusters -l env=prod -o name`)).toBe(
        `pediacluster.cluster.clusterpedia.io/${cluster}\n`,
      )
      expect(
        await must(`kubectl get pediacluster ${cluster} -o jsonpath={.spec.shardingName}`),
      ).toBe('five')
    })

    test('get: columns, and wait until it is ready', async () => {
      const waiting = must(
        `kubectl wait --for=condition=Ready pediacluster/${cluster} --timeout=60s`,
      )
      const { object } = await registrations.get({ kind: REGISTRATION_KINDS[1]!, name: cluster })
      const uid = (object.metadata as { uid: string }).uid
      const now = new Date().toISOString()
      const { store } = database
      const { rows } = await store.pool.query('select id from cluster where name = $1', [cluster])
      const wish = { clusterId: rows[0].id, holder: 'test', seconds: 60 }
      const lease = (await acquireLease(store, wish))!
      const status = {
        version: 'v1.30.0',
        apiserver: 'https://10.0.0.1:6443',
        conditions: [
          { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: now },
        ],
      } as const
      const source = databaseRegistrationSource(registrations)
      await source.writeStatus({ name: cluster, uid, lease, status })
      expect(await waiting).toContain('condition met')
      const lines = (await must(`kubectl get pediacluster ${cluster}`)).trim().split('\n')
      expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
        ['NAME', 'READY', 'VERSION', 'APISERVER'],
        [cluster, 'True', 'v1.30.0', 'https://10.0.0.1:6443'],
      ])
      const wide = await must(`kubectl get pediacluster ${cluster} -o wide`)
      expect(wide.split('\n')[0]!.split(/ +/)).toEqual([
        ...['NAME', 'READY', 'VERSION', 'APISERVER'],
        ...['VALIDATED', 'SYNCHRORUNNING', 'CLUSTERHEALTHY', 'SHARDINGNAME'],
      ])
      expect(await must(`kubectl describe pediacluster ${cluster}`)).toContain('Ready')
    })

    test('get -w', async () => {
      await must('kubectl apply -f -', syncResources('before'))
      const watching = spawn(kubectl.path, ['get', 'clustersyncresources', '-w'], {
        env: runner.environment(),
      })
      onTestFinished(() => void watching.kill())
      let stdout = ''
      watching.stdout.on('data', (chunk) => {
        stdout += chunk
      })
      // It goes on from the list that it printed: nothing is missed from there on.
      await until(() => stdout.includes('before'))
      await must('kubectl apply -f -', syncResources('watched'))
      await must('kubectl delete clustersyncresources watched')
      await until(() => stdout.split('\n').length > 4)
      const line = (name: string) => `${name}\\s+\\S+\\n`
      expect(stdout).toMatch(
        new RegExp(`^NAME\\s+AGE\\n${line('before')}${line('watched')}${line('watched')}$`),
      )
      await must('kubectl delete clustersyncresources before')
    })

    test('explain', async () => {
      const text = await must('kubectl explain pediacluster.spec.syncResources.resources')
      expect(text).toContain("Plural names such as 'deployments'; '*' is all of the group.")
      expect(await must('kubectl explain fleetaccess.spec.rules')).toContain('clusterSelector')
      expect(await must('kubectl explain pediacluster.metadata.labels')).toContain('selected')
    })

    test('create, replace, and what is wrong with a manifest', async () => {
      await must('kubectl create -f -', fleetAccess(cluster))
      expect(await must('kubectl get fa -o name')).toContain(cluster)
      const unknown = { ...syncResources('bad'), spec: { syncResources: [], color: 'red' } }
      const strict = await tried('kubectl apply -f -', unknown)
      expect(strict.stderr).toContain('strict decoding error: unknown field "spec.color"')
      const invalid = await tried('kubectl create -f -', syncResources('bad', []))
      expect(invalid.stderr.trim()).toBe(
        'The ClusterSyncResources "bad" is invalid: spec.syncResources[0].resources: Invalid value: 0: spec.syncResources[0].resources in body should have at least 1 items',
      )
      const taken = await tried('kubectl create -f -', fleetAccess(cluster))
      expect(taken.stderr).toContain('AlreadyExists')
      const outdated = fleetAccess(cluster)
      const replaced = await tried('kubectl replace -f -', {
        ...outdated,
        metadata: { name: cluster, resourceVersion: '1' },
      })
      expect(replaced.stderr).toContain('the object has been modified')
      await must('kubectl replace -f -', fleetAccess(cluster, { namespaces: ['a'] }))
    })

    test('delete', async () => {
      expect(await must(`kubectl delete pediacluster ${cluster}`)).toBe(
        `pediacluster.cluster.clusterpedia.io "${cluster}" deleted\n`,
      )
      expect(await must(`kubectl delete fleetaccess --all`)).toContain('deleted')
      const gone = await tried(`kubectl get pediacluster ${cluster}`)
      expect(gone.stderr.trim()).toBe(
        `Error from server (NotFound): pediaclusters.cluster.clusterpedia.io "${cluster}" not found`,
      )
    })
  },
)
