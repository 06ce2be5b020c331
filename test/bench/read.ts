/** `npm run bench:read`: the reads that the figures of README.md speak of, one after another. */
import { since } from './cpu-seconds.ts'
import { measureFloor, timed } from './floor.ts'
import { clusterName, MeasuredFleet } from './measured-fleet.ts'
import { namespaceOf } from './member-objects.ts'
import { writePlans } from './plans.ts'
import { printLine, sizesAsked } from './settings.ts'

const PODS = '/apis/clusterpedia.io/v1beta1/resources/api/v1/pods'
const ANY = '/apis/clusterpedia.io/v1beta1/collectionresources/any'
const WORKLOADS = ANY.replace('any', 'workloads')
const CLUSTER = `/apis/clusterpedia.io/v1beta1/resources/clusters/${clusterName(2)}`
const TABLE = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const METADATA = { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }
const WARM_UP = 5

interface Read {
  readonly what: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly times?: number
}

const page = (query: Record<string, string>, path = PODS) =>
  `${path}?${new URLSearchParams({ limit: '500', ...query })}`
const FUZZY = 'internalstorage.clusterpedia.io/fuzzy-name'

function reads(
  pod: { name: string; namespace: string; app: string; node: string },
  total: number,
): readonly Read[] {
  const offset = String(Math.floor(total * 0.9))
  const table = (what: string, path: string): Read => ({ what, path, headers: TABLE })
  return [
    {
      what: 'one object by name',
      path: `${CLUSTER}/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`,
      times: 50,
    },
    table('table, 500 of all', page({})),
    table(
      'table, 500 of one namespace',
      page({}, PODS.replace('/pods', `/namespaces/${namespaceOf(7)}/pods`)),
    ),
    table('table, 500 by created_at desc', page({ orderby: 'created_at desc' })),
    table(
      `table, 500 at offset ${offset}`,
      page({ orderby: 'cluster,namespace,name', continue: offset }),
    ),
    table('common label, 500', page({ labelSelector: 'app.kubernetes.io/version=1.3' })),
    table('rare label', page({ labelSelector: `app=${pod.app}` })),
    table('fuzzy name, common', page({ labelSelector: `${FUZZY}=payments` })),
    table('fuzzy name, one', page({ labelSelector: `${FUZZY}=${pod.name.slice(-9)}` })),
    table('fuzzy name, absent', page({ labelSelector: `${FUZZY}=zzqqx` })),
    table('status.phase=Failed, 500', page({ fieldSelector: 'status.phase=Failed' })),
    table(
      'spec.nodeName of one cluster',
      page({ fieldSelector: `spec.nodeName=${pod.node}` }, `${CLUSTER}/api/v1/pods`),
    ),
    table('a field value that is absent', page({ fieldSelector: 'spec.schedulerName=nope' })),
    table('created within one day', page({ since: '2026-03-01', before: '2026-03-02' })),
    {
      what: 'remaining count, one label',
      path: page({ limit: '1', withRemainingCount: 'true', labelSelector: 'team=payments' }),
    },
    table(
      'pods of a deployment (grandparent owner)',
      page({ ownerName: pod.app, ownerGR: 'deployments.apps', ownerSeniority: '1' }),
    ),
    table('words, rare', page({ text: pod.app })),
    table('words, common, 500', page({ text: 'registry.example.com payments' })),
    table('collection, words over all kinds', page({ groups: ',apps', text: pod.app }, ANY)),
    table('collection, 500 of workloads by name', page({ orderby: 'name' }, WORKLOADS)),
    {
      what: 'counts by cluster and status.phase',
      path: `${PODS}/counts?groupBy=cluster,status.phase`,
      times: 3,
    },
    {
      what: 'counts by cluster, one label',
      path: `${PODS}/counts?groupBy=cluster&labelSelector=team%3Dpayments`,
    },
    table(
      'a number that is more, of one cluster',
      page({ fieldSelector: 'spec.terminationGracePeriodSeconds>30' }, `${CLUSTER}/api/v1/pods`),
    ),
    {
      ...table(
        'a quantity that is more, of all',
        page({ fieldSelector: 'spec.containers[].resources.requests.cpu>1' }),
      ),
      times: 3,
    },
    {
      ...table(
        'by a field, of one cluster',
        page({ orderby: 'status.startTime' }, `${CLUSTER}/api/v1/pods`),
      ),
      times: 3,
    },
    table('table, 500 by created_at', page({ orderby: 'created_at' })),
    { what: 'JSON, 500', path: page({}) },
    { what: 'metadata only, 500', path: page({}), headers: METADATA },
    { what: 'table of all pods', path: PODS, headers: TABLE, times: 3 },
    { what: 'JSON of all pods', path: PODS, times: 3 },
  ]
}

async function measure(fleet: MeasuredFleet, read: Read, floorSeconds: number): Promise<void> {
  const { what, path, headers, times = 15 } = read
  const ask = async () => {
    const { status, text } = await fleet.get(path, headers)
    if (status !== 200) throw new Error(`${what}: ${status} ${text}`)
  }
  for (let i = 0; i < Math.min(times, WARM_UP); i++) await ask()
  const before = fleet.processes.usage()
  const seconds: number[] = []
  for (let i = 0; i < times; i++) seconds.push(await timed(ask))
  const used = since(before, fleet.processes.usage())
  seconds.sort((a, b) => a - b)
  const median = seconds[times >> 1]!
  const cpu = (total: number) => `${((total / times) * 1000).toFixed(1)} ms`
  const remark = `least ${milliseconds(seconds[0]!)}; CPU: PostgreSQL ${cpu(used.postgres)}, API server ${cpu(used.apiServer)}`
  const share =
    what === 'JSON of all pods' ? `; ${(median / floorSeconds).toFixed(1)} times its floor` : ''
  printLine(what, milliseconds(median), `${remark}${share}`)
}

const milliseconds = (seconds: number) => `${(seconds * 1000).toFixed(1)} ms`

async function somePod(fleet: MeasuredFleet) {
  const { text } = await fleet.get(`${CLUSTER}/api/v1/pods?limit=1`)
  const { metadata, spec } = JSON.parse(text).items[0]
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    app: metadata.labels.app,
    node: spec.nodeName,
    ownerUid: metadata.ownerReferences[0].uid,
  }
}

async function measureAll(copyOutSeconds: number): Promise<void> {
  for (const read of reads(await somePod(fleet), sizes.clusters * sizes.pods)) {
    await measure(fleet, read, copyOutSeconds)
  }
  const { apiServer } = fleet.processes.peakMegabytes()
  printLine('peak memory of the API server', `${apiServer.toFixed(0)} MB`)
}

const sizes = sizesAsked()
const fleet = await MeasuredFleet.start(sizes)
try {
  await fleet.sync()
  await fleet.store.pool.query('vacuum analyze')
  const { copyOutSeconds } = await measureFloor(fleet.store)
  printLine('floor: COPY of all pods to nowhere', milliseconds(copyOutSeconds))
  if (process.argv.includes('--plans')) await writePlans(fleet.store, await somePod(fleet))
  else await measureAll(copyOutSeconds)
} finally {
  await fleet.stop()
}
