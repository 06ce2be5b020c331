/**
 * `npm run bench:fleet`: how long the sweep of a fleet takes from the store.
 *
 * Two figures, with their bars: 300 clusters of 100 pods each with all that belongs to them, and
 * one cluster of 10,000 pods. A database of its own is started, filled and thrown away.
 */
import { systemClock } from '../src/clock.ts'
import { renderText } from '../src/fleet/render-text.ts'
import { makeReport } from '../src/fleet/report.ts'
import { storeSource } from '../src/fleet/store-source.ts'
import { sweep } from '../src/fleet/sweep.ts'
import { SWEPT, SWEPT_RESOURCES, type SweptResource } from '../src/fleet/swept-resources.ts'
import { parseApiVersion } from '../src/kube/group-resource.ts'
import { connectStore, type Store } from '../src/store/connect.ts'
import { migrate } from '../src/store/migrate.ts'
import { FilledCluster, metadata } from '../test/support/objects.ts'
import { startPostgres } from '../test/support/postgres-server.ts'

type Fields = Readonly<Record<string, unknown>>

const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }],
})

/** One pod as a kubelet leaves it, with some kilobytes of spec. */
function pod(i: number, isBroken: boolean): Fields {
  const app = `app-${i % 30}`
  const labels = { app, 'pod-template-hash': '5d8f7c9b6d', 'app.kubernetes.io/part-of': 'shop' }
  const env = Array.from({ length: 25 }, (_, n) => ({
    name: `SETTING_${n}`,
    value: `value-of-${n}`,
  }))
  const state = isBroken
    ? {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: 'back-off 5m0s restarting failed container',
        },
      }
    : { running: { startedAt: '2026-11-01T00:00:00Z' } }
  const lastState = isBroken ? { terminated: { exitCode: 1, reason: 'Error' } } : {}
  const status = isBroken ? 'False' : 'True'
  return {
    metadata: metadata(`${app}-5d8f7c9b6d-${i}`, {
      ...{ namespace: `ns-${i % 10}`, labels },
      ...owner('ReplicaSet', `${app}-5d8f7c9b6d`),
    }),
    spec: {
      nodeName: `node-${i % 5}`,
      containers: [{ name: 'app', image: `registry.example/shop/${app}:1.2.3`, env }],
      tolerations: Array.from({ length: 6 }, (_, n) => ({ key: `key-${n}`, operator: 'Exists' })),
      volumes: Array.from({ length: 6 }, (_, n) => ({
        name: `v-${n}`,
        configMap: { name: `c-${n}` },
      })),
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        ...{ type, status: /Ready/.test(type) ? status : 'True' },
        lastTransitionTime: '2026-11-01T00:00:00Z',
      })),
      containerStatuses: [
        {
          ...{ name: 'app', ready: !isBroken, restartCount: isBroken ? 9 : 0, state, lastState },
          imageID: `registry.example/shop/${app}@sha256:${'0'.repeat(64)}`,
        },
      ],
    },
  }
}

function workload(i: number): Fields {
  const app = `app-${i}`
  const template = {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'app', image: app }] },
  }
  return {
    metadata: metadata(app, { namespace: `ns-${i % 10}` }),
    spec: { replicas: 3, selector: { matchLabels: { app } }, template },
    status: { replicas: 3, readyReplicas: 3, updatedReplicas: 3, conditions: [] },
  }
}

const many = (count: number, make: (i: number) => Fields) =>
  Array.from({ length: count }, (_, i) => make(i))
const inNamespace = (prefix: string, i: number, more: Fields = {}) =>
  metadata(`${prefix}-${i}`, { namespace: `ns-${i % 10}`, ...more })

function objectsOf(pods: number): { readonly [K in SweptResource]?: readonly Fields[] } {
  return {
    pods: many(pods, (i) => pod(i, i % 50 === 7)),
    deployments: many(30, workload),
    replicasets: many(90, (i) => {
      const app = `app-${i % 30}`
      const name = i < 30 ? `${app}-5d8f7c9b6d` : `${app}-old-${i}`
      const { spec } = workload(i % 30)
      const owned = { namespace: `ns-${i % 10}`, ...owner('Deployment', app) }
      return { metadata: metadata(name, owned), spec, status: { replicas: i < 30 ? 3 : 0 } }
    }),
    services: many(30, (i) => ({
      metadata: inNamespace('app', i),
      spec: {
        type: 'ClusterIP',
        selector: { app: `app-${i}` },
        ports: [{ name: 'http', port: 80 }],
      },
    })),
    endpointslices: many(30, (i) => ({
      metadata: inNamespace('app', i, { labels: { 'kubernetes.io/service-name': `app-${i}` } }),
      endpoints: many(3, (n) => ({ addresses: [`10.0.${i}.${n}`], conditions: { ready: true } })),
    })),
    events: many(50, (i) => ({
      metadata: inNamespace('event', i),
      involvedObject: { kind: 'Pod', name: `pod-${i}`, namespace: `ns-${i % 10}` },
      reason: i % 10 === 0 ? 'Unhealthy' : 'Pulled',
    })),
    nodes: many(5, (i) => ({ metadata: metadata(`node-${i}`), status: { conditions: [] } })),
    namespaces: many(10, (i) => ({ metadata: metadata(`ns-${i}`), status: { phase: 'Active' } })),
  }
}

async function fill(store: Store, name: string, pods: number): Promise<FilledCluster> {
  const cluster = await FilledCluster.create(store, name)
  const objects = objectsOf(pods)
  for (const resource of SWEPT_RESOURCES) {
    const { apiVersions, namespaced } = SWEPT[resource]
    const type = {
      ...parseApiVersion(apiVersions[0]!),
      resource,
      kind: resource === 'pods' ? 'Pod' : resource,
      namespaced,
    }
    await cluster.fill(type, objects[resource] ?? [])
  }
  return cluster
}

/** The same rows again, under other clusters. */
async function copy(store: Store, from: FilledCluster, clusters: number): Promise<void> {
  for (let i = 1; i < clusters; i++) {
    const { id } = await FilledCluster.create(store, `c-${i}`)
    for (const table of ['object', 'object_status', 'cluster_resource']) {
      const { rows } = await store.pool.query(
        `select string_agg(column_name, ',' order by ordinal_position) as columns
         from information_schema.columns where table_name = $1 and column_name <> 'cluster_id'`,
        [table],
      )
      const [{ columns }] = rows
      await store.pool.query(
        `insert into ${table} (cluster_id, ${columns}) select $1, ${columns} from ${table} where cluster_id = $2`,
        [id, from.id],
      )
    }
  }
  await store.pool.query('analyze')
}

const RUNS = 6

async function measure(store: Store, what: string, barSeconds: number): Promise<boolean> {
  const times: number[] = []
  let text = ''
  const before = process.cpuUsage()
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now()
    const source = await storeSource({
      ...{ store, clock: systemClock, maxStalenessMilliseconds: 300_000 },
      wishesOf: () => undefined,
    })
    const targets = source.targets(source.names.map((context) => ({ context })))
    const outcomes = await sweep(targets, { failOn: 'critical', workers: 8 })
    text = renderText(makeReport(outcomes, 'critical'))
    times.push((performance.now() - start) / 1000)
  }
  const { user, system } = process.cpuUsage(before)
  const cpu = ((user + system) / RUNS / 1e6).toFixed(2)
  const [first, ...rest] = times
  const best = Math.min(...rest)
  const mebibytes = Math.round(process.memoryUsage().rss / 2 ** 20)
  console.log(text.split('\n')[0])
  console.log(
    `${what}: ${best.toFixed(2)} s (first ${first!.toFixed(2)} s; bar ${barSeconds} s), ${cpu} s of CPU here, ${mebibytes} MiB resident\n`,
  )
  return best < barSeconds
}

async function bench(what: string, of: { clusters: number; pods: number; barSeconds: number }) {
  const server = await startPostgres('embedded')
  const store = await connectStore({ url: server.url, applicationName: 'bench' })
  try {
    await migrate(store)
    const first = await fill(store, 'c-0', of.pods)
    await copy(store, first, of.clusters)
    return await measure(store, what, of.barSeconds)
  } finally {
    await store.close()
    await server.stop()
  }
}

const isFast = [
  await bench('300 clusters of 100 pods', { clusters: 300, pods: 100, barSeconds: 2 }),
  await bench('one cluster of 10,000 pods', { clusters: 1, pods: 10_000, barSeconds: 1 }),
]
process.exitCode = isFast.every(Boolean) ? 0 : 1
