/**
 * The API server of a management cluster as `fleetglass apiserver` starts it, asked through a front
 * proxy and directly, by kubectl.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import type { ResourceAttributes } from '../../src/kube/request-attributes.ts'
import { allKubectls, KubectlRunner } from '../support/kubectl.ts'
import {
  type AggregatedFleet,
  aggregatedFleet,
  type Serving,
} from '../support/management/aggregated-server.ts'
import { apiserverInUse } from '../support/management/management-cluster.ts'
import type { Reviews, UserInfo } from '../support/management/reviews.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { until } from '../support/until.ts'

const SCRIPT = join(import.meta.dirname, '../../hack/gen-clusterconfigs.sh')
const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const KUBECTLS = allKubectls()
const USERS: Readonly<Record<string, UserInfo>> = {
  admin: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
  jane: { username: 'jane', uid: '7', groups: ['devs', 'system:authenticated'] },
  eve: { username: 'eve', groups: ['system:authenticated'] },
  mia: { username: 'mia', groups: ['system:authenticated'] },
}
describe.skipIf(apiserverInUse() === 'real' || KUBECTLS.length === 0)(
  'behind an aggregator',
  () => {
    const started = new AsyncDisposableStack()
    const users = new Map(Object.entries(USERS).map(([token, user]) => [`of-${token}`, user]))
    let managed: AggregatedFleet
    let cluster: AggregatedFleet['cluster']
    let reviews: AggregatedFleet['reviews']
    let serverCa: AggregatedFleet['serverCa']
    /** FleetAccess counts. */
    let fleet: Serving
    /** RBAC of the management cluster counts. */
    let byPaths: Serving
    const file = (name: string) => managed.file(name)

    beforeAll(async () => {
      managed = await aggregatedFleet(
        {
          users,
          // The ClusterRole fleetglass-reader, and who is authenticated may discover.
          allows: (user, attributes) =>
            user.username !== 'eve' &&
            ['get', 'list'].includes(attributes.verb) &&
            ('path' in attributes || attributes.group === 'clusterpedia.io'),
        },
        started,
      )
      ;({ cluster, reviews, serverCa } = managed)
      for (const name of ['dot-01', 'dot-02']) {
        const filled = await FilledCluster.create(managed.database.store, name)
        await filled.fill(PODS, [
          { metadata: metadata('web-0', { namespace: 'a-team' }) },
          { metadata: metadata('db-0', { namespace: 'shop' }) },
        ])
        await registerThere(name)
      }
      fleet = await managed.serve()
      byPaths = await managed.serve({ authorizationMode: 'Aggregator' })
    })

    afterAll(() => started.disposeAsync())

    async function registerThere(name: string): Promise<void> {
      const path = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'
      const body = {
        ...{ apiVersion: 'cluster.clusterpedia.io/v1alpha2', kind: 'PediaCluster' },
        ...{ metadata: { name }, spec: { apiserver: 'https://10.0.0.1:6443' } },
      }
      await cluster.admin.request('POST', path, { body })
    }

    function kubectlOf(
      token: string,
      server: string,
      { kubectl = KUBECTLS.at(-1)!, ca = cluster.ca } = {},
    ) {
      return new KubectlRunner(kubectl, managed.kubeconfig(token, server, { ca }))
    }

    async function must(runner: KubectlRunner, line: string): Promise<string> {
      const { exitCode, stdout, stderr } = await runner.paste(line)
      expect(`${exitCode} ${stderr}`).toBe('0 ')
      return stdout
    }

    const lists = (runner: KubectlRunner) =>
      must(runner, 'kubectl --cluster clusterpedia get pods -A --no-headers')

    test('it is not ready without the ConfigMap, says so, and recovers by itself', async () => {
      const ready = kubectlOf('of-admin', fleet.url, { ca: serverCa.cert })
      const readyz = () => ready.paste('kubectl get --raw /readyz')
      await until(async () =>
        (await readyz()).stderr.includes(
          'kube-system/extension-apiserver-authentication is not there',
        ),
      )
      const through = kubectlOf('of-admin', fleet.proxy.url)
      expect((await through.paste(`kubectl get --raw ${FLEET_PREFIX}/api`)).stderr).toContain(
        'Unauthorized',
      )
      managed.announceProxy()
      await until(async () => (await readyz()).stdout === 'ok')
    })

    test.each(
      [
        { shell: 'dash', kubectl: KUBECTLS[0]! },
        { shell: 'dash', kubectl: KUBECTLS.at(-1)! },
        { shell: 'bash', kubectl: KUBECTLS.at(-1)! },
      ].map((one) => ({ ...one, version: one.kubectl?.version })),
    )(
      'gen-clusterconfigs.sh adds the fleet and each cluster: $shell, kubectl $version',
      async ({ shell, kubectl }) => {
        const admin = kubectlOf('of-admin', fleet.proxy.url, { kubectl })
        expect(await must(admin, `${shell} ${SCRIPT}`)).toBe(
          'cluster "clusterpedia" is set\ncluster "dot-01" is set\ncluster "dot-02" is set\n',
        )
        expect((await lists(admin)).trim().split('\n')).toHaveLength(4)
        expect(await must(admin, 'kubectl --cluster dot-01 -n shop get pods -o name')).toBe(
          'pod/db-0\n',
        )
        const refused = await admin.paste('kubectl --cluster dot-01 -n shop delete pod db-0')
        expect(refused.stderr).toContain('does not allow this method')
      },
      60_000,
    )

    describe('with rights by FleetAccess', () => {
      beforeAll(async () => {
        await managed.grant('devs', {
          subjects: [{ kind: 'Group', name: 'devs' }],
          rules: [
            { clusters: ['dot-01'], namespaces: ['a-team'], apiGroups: [''], resources: ['*'] },
          ],
        })
      })

      test('a reader sees theirs, through the proxy', async () => {
        const jane = kubectlOf('of-jane', fleet.proxy.url)
        await until(async () => {
          const { stdout } = await jane.paste(`sh ${SCRIPT}`)
          return stdout === 'cluster "clusterpedia" is set\ncluster "dot-01" is set\n'
        })
        expect(await lists(jane)).toMatch(/^a-team +dot-01 +web-0 .*\n$/)
        const other = await jane.paste('kubectl --cluster dot-01 -n shop get pods')
        expect(other.stderr).toContain(
          'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "shop" of cluster "dot-01"',
        )
        const refused = await jane.paste('kubectl --cluster dot-01 -n a-team delete pod web-0')
        expect(refused.stderr).toContain('"clusters" is forbidden: User "jane" cannot delete')
      })

      test('an administrator acting as them sees what they see', async () => {
        const admin = kubectlOf('of-admin', fleet.proxy.url)
        await must(admin, `sh ${SCRIPT}`)
        const as = '--as eva --as-group devs --cluster clusterpedia'
        expect(await must(admin, `kubectl ${as} get pods -A --no-headers`)).toMatch(
          /^a-team +dot-01 +web-0 .*\n$/,
        )
      })

      test('directly, with the token of the management cluster, they see the same', async () => {
        const jane = kubectlOf('of-jane', fleet.url + FLEET_PREFIX, { ca: serverCa.cert })
        expect(await must(jane, 'kubectl get pods -A --no-headers')).toMatch(/web-0/)
        expect(await must(jane, 'kubectl auth whoami -o jsonpath={.status.userInfo.uid}')).toBe('7')
        expect(await must(jane, 'kubectl auth can-i list pods -n a-team')).toBe('yes\n')
        expect((await jane.paste('kubectl auth can-i list pods -n shop')).stdout).toBe('no\n')
        const as = await jane.paste('kubectl --as admin get pods -A')
        expect(as.stderr).toContain('cannot impersonate resource "users"')
      })

      test('a certificate of the management cluster’s users counts there too', async () => {
        const path = file('by-certificate')
        const server = fleet.url + FLEET_PREFIX
        const config = {
          ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'there' },
          clusters: [
            {
              name: 'there',
              cluster: { server, 'certificate-authority': file('fleetglass-ca.crt') },
            },
          ],
          users: [
            {
              name: 'me',
              user: { 'client-certificate': file('admin.crt'), 'client-key': file('admin.key') },
            },
          ],
          contexts: [{ name: 'there', context: { cluster: 'there', user: 'me' } }],
        }
        writeFileSync(path, JSON.stringify(config))
        const admin = new KubectlRunner(KUBECTLS.at(-1)!, path)
        expect((await must(admin, 'kubectl get pods -A -o name')).split('\n')).toHaveLength(5)
      })

      test('who may not monitor gets no metrics; RBAC decides', async () => {
        const jane = kubectlOf('of-jane', fleet.url, { ca: serverCa.cert })
        expect((await jane.paste('kubectl get --raw /metrics')).stderr).toContain(
          'forbidden: User "jane" cannot get path "/metrics"',
        )
        reviews.allows = ({ user, nonResourceAttributes }) =>
          user === 'eve' && nonResourceAttributes?.path === '/metrics'
        const eve = kubectlOf('of-eve', fleet.url, { ca: serverCa.cert })
        expect(await must(eve, 'kubectl get --raw /metrics')).toContain('process_cpu')
      })
    })

    describe('with rights by the aggregator alone', () => {
      /** RBAC for the paths of one cluster. */
      const onlyDot01 =
        (user: string) =>
        ({ user: asked, resourceAttributes }: Parameters<Reviews['allows']>[0]) =>
          asked === user &&
          (resourceAttributes as ResourceAttributes | undefined)?.subresource === 'dot-01' &&
          resourceAttributes?.verb === 'get'

      test('whoever it lets through sees everything', async () => {
        const jane = kubectlOf('of-jane', byPaths.proxy.url)
        await must(jane, `sh ${SCRIPT}`)
        expect((await lists(jane)).trim().split('\n')).toHaveLength(4)
        const eve = kubectlOf('of-eve', byPaths.proxy.url)
        const refused = await eve.paste(`kubectl get --raw ${FLEET_PREFIX}/api/v1/pods`)
        expect(refused.stderr).toContain('User "eve" cannot get resource "resources/v1"')
      })

      test('who comes past it is asked about in its words', async () => {
        reviews.allows = onlyDot01('jane')
        const jane = kubectlOf('of-jane', byPaths.url, { ca: serverCa.cert })
        const get = (path: string) => jane.paste(`kubectl get --raw ${FLEET_PREFIX}${path}`)
        expect((await get('/clusters/dot-01/api/v1/pods')).stdout).toContain('"web-0"')
        expect((await get('/clusters/dot-02/api/v1/pods')).stderr).toContain(
          'resources.clusterpedia.io "clusters" is forbidden: User "jane" cannot get resource "resources/dot-02" in API group "clusterpedia.io" at the cluster scope',
        )
        expect((await get('/api/v1/pods')).stderr).toContain('cannot get resource "resources/v1"')
      })

      test('“may I” is answered by the same', async () => {
        reviews.allows = ({ user, resourceAttributes = {}, nonResourceAttributes }) =>
          user === 'mia' &&
          (nonResourceAttributes !== undefined ||
            resourceAttributes.verb === 'create' ||
            resourceAttributes.subresource === 'dot-02')
        const canI = async (name: string, verb: string) => {
          const prefix = `${FLEET_PREFIX}/clusters/${name}`
          const mia = kubectlOf('of-mia', byPaths.url + prefix, { ca: serverCa.cert })
          return (await mia.paste(`kubectl auth can-i ${verb} pods -n shop`)).stdout.trim()
        }
        expect(await canI('dot-02', 'list')).toBe('yes')
        expect(await canI('dot-02', 'delete')).toMatch(/^no/)
        expect(await canI('dot-01', 'list')).toBe('no')
      })
    })

    test('registrations are the management cluster’s, and none are served here', async () => {
      const direct = kubectlOf('of-admin', fleet.url, { ca: serverCa.cert })
      expect(await must(direct, 'kubectl get --raw /apis')).not.toContain('cluster.clusterpedia.io')
      const path = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'
      const { exitCode, stderr } = await direct.paste(`kubectl get --raw ${path}`)
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('NotFound')])
    })

    test('the address past the aggregator is written where one is advertised', async () => {
      const advertised = await managed.serve({ advertiseDirectUrl: fleet.url })
      const jane = kubectlOf('of-jane', advertised.proxy.url)
      expect(await must(jane, `dash ${SCRIPT}`)).toContain('cluster "dot-01" is set')
      const at = 'kubectl config view --raw -o jsonpath='
      expect(await must(jane, `${at}'{.clusters[?(@.name=="dot-01")].cluster.server}'`)).toBe(
        `${fleet.url}${FLEET_PREFIX}/clusters/dot-01`,
      )
      expect(await lists(jane)).toMatch(/web-0/)
      // What points elsewhere stays.
      const before = kubectlOf('of-jane', fleet.proxy.url)
      await must(before, `sh ${SCRIPT}`)
      await must(before, `kubectl config set-cluster there --server=${advertised.proxy.url}`)
      const again = await before.paste(`sh ${SCRIPT}`)
      expect(again.stderr).toContain('cluster "dot-01" is left as it is: it points at')
    })

    test('a renewed server certificate is served without a restart', async () => {
      const shown = () =>
        new Promise<string>((resolve, reject) => {
          const { hostname: host, port } = new URL(fleet.url)
          const socket = connect({ host, port: Number(port), ca: serverCa.cert }, () => {
            resolve(socket.getPeerX509Certificate()!.serialNumber)
            socket.destroy()
          })
          socket.on('error', reject)
        })
      const before = await shown()
      writeFileSync(file('tls.crt'), 'half a certificate')
      expect(await shown()).toBe(before)
      await managed.writeServingPair()
      await until(async () => (await shown()) !== before)
      const jane = kubectlOf('of-jane', fleet.proxy.url + FLEET_PREFIX)
      expect(await must(jane, 'kubectl get pods -A --no-headers')).toMatch(/web-0/)
    })
  },
)
