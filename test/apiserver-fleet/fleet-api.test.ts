/** `fleet.fleetglass.io`, asked as kubectl asks: who sees what of it, and in which forms. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SWEPT, SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import type { AccessRule } from '../../src/kube/fleet-access.ts'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import type { Fields } from '../../src/printers/read-field.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { crdOf } from '../drift/seen.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

const ROOT = '/apis/fleet.fleetglass.io/v1alpha1'
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}
const STALE_SINCE = new Date('2026-12-01T03:23:56Z')

let database: TestDatabase
let fleet: FleetServer
let reader: Reader

function typeOf(resource: SweptResource) {
  const { apiVersions, namespaced } = SWEPT[resource]
  const kind = resource === 'pods' ? 'Pod' : resource === 'nodes' ? 'Node' : `Kind${resource}`
  return { ...parseApiVersion(apiVersions[0]!), resource, kind, namespaced }
}

function pod(name: string, namespace: string, { image, crashes = false }: PodLook) {
  const state = crashes ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: {} }
  const container = { name: 'main', image, imageID: '', ready: !crashes, restartCount: 0, state }
  return {
    metadata: metadata(name, { namespace }),
    spec: { containers: [{ name: 'main', image }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: crashes ? 'False' : 'True' }],
      containerStatuses: [container],
    },
  }
}

interface PodLook {
  readonly image: string
  readonly crashes?: boolean
}

interface ClusterLook {
  readonly version: string
  readonly labels?: Readonly<Record<string, string>>
  readonly lists: { readonly [K in SweptResource]?: readonly Fields[] }
  readonly crds?: readonly string[]
  readonly staleReason?: string
}

async function cluster(name: string, look: ClusterLook): Promise<void> {
  const made = await FilledCluster.create(database.store, name, look.labels)
  for (const resource of SWEPT_RESOURCES) {
    await made.fill(typeOf(resource), look.lists[resource] ?? [])
  }
  if (look.crds) {
    const definitions = look.crds.map((crd) => ({
      ...crdOf({ name: crd }),
      metadata: metadata(crd),
    }))
    await made.fill(CRDS, definitions)
  }
  const { staleReason = null } = look
  await recordClusterState(database.store, made.lease, {
    version: JSON.stringify({ gitVersion: look.version }),
    ...{ staleReason, staleSince: staleReason === null ? null : STALE_SINCE },
  })
}

beforeAll(async () => {
  database = await testDatabase()
  const prod = { env: 'prod' }
  await cluster('east', {
    ...{ version: 'v1.30.5', labels: prod, crds: ['a.example.com', 'b.example.com'] },
    lists: {
      pods: [
        pod('web', 'shop', { image: 'host:5000/team/web:1.0.0', crashes: true }),
        pod('job', 'lab', { image: 'app:1', crashes: true }),
        pod('odd', 'lab', { image: 'Not/An IMAGE' }),
      ],
    },
  })
  await cluster('west', {
    ...{ version: 'v1.31.1', labels: prod, crds: ['a.example.com'] },
    lists: {
      pods: [pod('web', 'shop', { image: 'host:5000/team/web:1.1.0' })],
      nodes: [
        {
          metadata: metadata('n1'),
          status: { conditions: [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady' }] },
        },
      ],
    },
  })
  await cluster('gone', {
    ...{ version: 'v1.29.0', labels: { env: 'test' }, staleReason: 'connection refused' },
    lists: { pods: [] },
  })
  const everything = { wants: () => true, namespaces: undefined }
  fleet = await fleetServer(database.store, { wishes: async () => () => everything })
  await fleet.refresh()
  reader = await fleet.viewer([rule({ clusters: ['east', 'west'] })])
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

function rule(narrowed: Partial<AccessRule> = {}): AccessRule {
  const all = { clusters: ['*'], namespaces: ['*'], resources: ['*'] }
  return { ...all, apiGroups: ['fleet.fleetglass.io'], ...narrowed }
}

async function list(of: Reader, path: string) {
  const answer = await of.askRoot(`${ROOT}/${path}`)
  expect(answer.text).toContain('"items"')
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  return { ...answer, items: answer.json.items as any[] }
}

const namesIn = (items: readonly { readonly metadata: { readonly name: string } }[]) =>
  items.map(({ metadata: { name } }) => name)

describe('what each resource tells', () => {
  test('clusterhealths: one per cluster, also of one that does not answer', async () => {
    const { items, warnings } = await list(fleet.admin, 'clusterhealths')
    expect(
      items.map(({ metadata: { name }, status }) => [name, status.verdict, status.summary]),
    ).toEqual([
      ['east', 'fail', 'CrashLoopBackOff'],
      ['gone', 'inconclusive', 'timed out'],
      ['west', 'pass', ''],
    ])
    expect(items[0].status).toMatchObject({ critical: 2, warning: 0, info: 0, blindSpots: [] })
    expect(items[1].status.observedAt).toBe('2026-12-01T03:23:56Z')
    expect(warnings.join()).toContain(
      'gone (connection refused; last in step 2026-12-01T03:23:56Z)',
    )
  })

  test('findings: the object, why, and what to do', async () => {
    const { items, warnings } = await list(fleet.admin, 'findings')
    expect(
      items.map(({ status }) => `${status.cluster} ${status.namespace}/${status.object}`).sort(),
    ).toEqual(['east lab/job', 'east shop/web'])
    expect(items[0].status).toMatchObject({
      severity: 'critical',
      issue: 'CrashLoopBackOff',
      kind: 'Pod',
    })
    expect(items[0].status.next).toContain('kubectl logs --previous')
    expect(warnings.join()).toContain('not everything could be seen of gone (timed out)')
  })

  test('versiondrifts: against the newest', async () => {
    const { items, warnings } = await list(fleet.admin, 'versiondrifts')
    expect(
      items.map(({ metadata: { name }, status }) => [name, status.version, status.behind]),
    ).toEqual([
      ['east', 'v1.30.5', 'minor'],
      ['gone', undefined, undefined],
      ['west', 'v1.31.1', 'none'],
    ])
    expect(items[1].status.unknown).toContain('disconnected: connection refused')
    expect(warnings.join()).toContain('not compared: gone (disconnected)')
  })

  test('imagedrifts: by repository', async () => {
    const { items, warnings } = await list(reader, 'imagedrifts')
    expect(warnings.join()).toContain(
      'not comparable are the images \\"Not/An IMAGE\\" (in 1 cluster)',
    )
    expect(
      items.map(({ metadata: { name }, status }) => [
        name,
        status.drift,
        status.tags,
        status.behindText,
      ]),
    ).toEqual([
      ['docker.io~library~app', false, '1', ''],
      ['host:5000~team~web', true, '1.0.0, 1.1.0', 'east'],
    ])
    expect(items[1].status.image).toBe('host:5000/team/web')
  })

  test('crddrifts: where one is missing', async () => {
    const { items } = await list(reader, 'crddrifts')
    expect(
      items.map(({ metadata: { name }, status }) => [name, status.class, status.missing]),
    ).toEqual([
      ['a.example.com', 'none', ''],
      ['b.example.com', 'missing', 'west'],
    ])
  })
})

describe('who sees what', () => {
  test('a viewer of two clusters sees two, and compares two', async () => {
    expect(namesIn((await list(reader, 'clusterhealths')).items)).toEqual(['east', 'west'])
    const { items, warnings } = await list(reader, 'versiondrifts')
    expect(namesIn(items)).toEqual(['east', 'west'])
    expect(warnings).toEqual([])
  })

  test('a cluster of others is not found', async () => {
    const { status, json } = await reader.askRoot(`${ROOT}/clusterhealths/gone`)
    expect([status, json.reason]).toEqual([404, 'NotFound'])
    expect(json.message).toBe('clusterhealths.fleet.fleetglass.io "gone" not found')
  })

  test.each([
    { name: 'without a rule', rules: [] },
    { name: 'with a rule for another group', rules: [rule({ apiGroups: ['', 'apps'] })] },
    { name: 'with a rule for another resource', rules: [rule({ resources: ['versiondrifts'] })] },
    { name: 'with a rule for no cluster', rules: [rule({ clusters: [] })] },
  ])('$name: 403', async ({ rules }) => {
    const nobody = await fleet.viewer(rules)
    for (const path of ['clusterhealths', 'clusterhealths/east', 'findings', 'imagedrifts']) {
      const { status, json } = await nobody.askRoot(`${ROOT}/${path}`)
      expect([path, status, json.reason]).toEqual([path, 403, 'Forbidden'])
    }
  })

  test('a viewer of one namespace sees what is in it, and nothing that is in none', async () => {
    const narrow = await fleet.viewer([rule({ namespaces: ['lab'], clusters: ['east', 'west'] })])
    expect(namesIn((await list(narrow, 'findings')).items)).toHaveLength(1)
    const [east] = (await list(narrow, 'clusterhealths')).items
    expect(east.status).toMatchObject({ critical: 1, verdict: 'fail' })
    expect(namesIn((await list(narrow, 'imagedrifts')).items)).toEqual(['docker.io~library~app'])
    const crds = await list(narrow, 'crddrifts')
    expect(crds.items).toEqual([])
    expect(crds.warnings.join()).toContain('not compared: east (forbidden), west (forbidden)')
  })

  test('a rule for all groups is a rule for this one, too', async () => {
    const viewer = await fleet.viewer([rule({ apiGroups: ['*'], clusters: ['west'] })])
    expect(namesIn((await list(viewer, 'clusterhealths')).items)).toEqual(['west'])
  })
})

describe('what is selected', () => {
  const cases: ReadonlyArray<{ path: string; want: readonly string[] }> = [
    { path: 'clusterhealths?labelSelector=env%3Dprod', want: ['east', 'west'] },
    { path: 'clusterhealths?fieldSelector=status.verdict%3Dfail', want: ['east'] },
    { path: 'clusterhealths?fieldSelector=status.topIssues[]%3DCrashLoopBackOff', want: ['east'] },
    { path: 'clusterhealths?fieldSelector=status.verdict%20notin%20(pass,fail)', want: ['gone'] },
    { path: 'clusterhealths?fieldSelector=!status.verdict', want: [] },
    { path: 'clusterhealths?fieldSelector=status.reason%3D', want: ['east', 'west'] },
    { path: 'clusterhealths?fieldSelector=metadata.name!%3Deast', want: ['gone', 'west'] },
    {
      path: 'versiondrifts?labelSelector=search.clusterpedia.io/clusters%20in%20(east,gone)',
      want: ['east', 'gone'],
    },
    { path: 'versiondrifts?clusters=east,gone', want: ['east', 'gone'] },
    { path: 'versiondrifts?clusterSelector=env%3Dtest', want: ['gone'] },
    {
      path: 'versiondrifts?labelSelector=search.clusterpedia.io/cluster-label.env%3Dprod',
      want: ['east', 'west'],
    },
    {
      path: 'imagedrifts?labelSelector=fleet.fleetglass.io/drift%3Dtrue',
      want: ['host:5000~team~web'],
    },
    {
      path: 'crddrifts?labelSelector=fleet.fleetglass.io/class%3Dmissing',
      want: ['b.example.com'],
    },
  ]
  test.each(cases)('$path', async ({ path, want }) => {
    expect(namesIn((await list(fleet.admin, path)).items)).toEqual(want)
  })

  test('clusters that are searched for are compared among themselves', async () => {
    const path = 'versiondrifts?labelSelector=search.clusterpedia.io/clusters%3Deast'
    const { items } = await list(fleet.admin, path)
    expect(items[0].status).toMatchObject({ newest: 'v1.30.5', behind: 'none', drift: false })
  })

  test.each([
    'clusterhealths?labelSelector=search.clusterpedia.io/names%3Da',
    'clusterhealths?labelSelector=search.clusterpedia.io/nonsense%3Da',
    'clusterhealths?fieldSelector=a%3D%3D%3D(',
    'clusterhealths?labelSelector=a%20b',
    'clusterhealths?continue=rubbish',
    'clusterhealths?continue=3',
    'clusterhealths?cluster=east',
    'clusterhealths?names=east',
    'clusterhealths?onlyMetadata=true',
  ])('%s: 400', async (path) => {
    const { status, json } = await fleet.admin.askRoot(`${ROOT}/${path}`)
    expect([status, json.reason]).toEqual([400, 'BadRequest'])
  })

  test('page by page', async () => {
    const first = await list(fleet.admin, 'clusterhealths?limit=2')
    expect(namesIn(first.items)).toEqual(['east', 'gone'])
    const { continue: token } = first.json.metadata
    const second = await list(fleet.admin, `clusterhealths?limit=2&continue=${token}`)
    expect(namesIn(second.items)).toEqual(['west'])
    expect(second.json.metadata.continue).toBeUndefined()
  })
})

// biome-ignore lint/suspicious/noExplicitAny: of any kind
const named = (items: any[], name: string) => items.find(({ metadata }) => metadata.name === name)

describe('against a baseline', () => {
  test.each([
    'versiondrifts?baseline=west',
    'versiondrifts?labelSelector=fleet.fleetglass.io/baseline%3Dwest',
    'versiondrifts?baseline=west&labelSelector=fleet.fleetglass.io/baseline%3Deast',
  ])('versions: %s', async (path) => {
    for (const who of [fleet.admin, reader]) {
      const { items } = await list(who, path)
      expect(named(items, 'east').status).toMatchObject({ behind: 'minor', baseline: 'west' })
      expect(named(items, 'west').status).toMatchObject({ behind: 'none', drift: false })
    }
  })

  test('images and definitions say which clusters differ from it', async () => {
    const images = await list(reader, 'imagedrifts?baseline=east')
    expect(named(images.items, 'host:5000~team~web').status).toMatchObject({
      ...{ baseline: 'east', differsIn: ['west'], drift: true },
    })
    const crds = await list(reader, 'crddrifts?baseline=east')
    expect(named(crds.items, 'a.example.com').status).toMatchObject({ differsIn: [], drift: false })
    expect(named(crds.items, 'b.example.com').status.differsIn).toEqual(['west'])
    const without = await list(reader, 'crddrifts')
    expect(named(without.items, 'b.example.com').status).not.toHaveProperty('differsIn')
  })

  test('it is compared whatever clusters are chosen', async () => {
    const { items } = await list(reader, 'crddrifts?clusters=west&baseline=east')
    expect(named(items, 'b.example.com').status.presentIn).toEqual(['east'])
    const one = await reader.askRoot(`${ROOT}/crddrifts/b.example.com?baseline=east`)
    expect(one.json.status.differsIn).toEqual(['west'])
  })

  test('of which nothing is seen, compares nothing and says so', async () => {
    const { warnings } = await list(fleet.admin, 'imagedrifts?baseline=gone')
    expect(warnings.join(' ')).toContain('the baseline gone is unknown')
  })

  test.each([
    ['versiondrifts?baseline=nowhere', '"baseline": Invalid value: "nowhere"'],
    ['versiondrifts?baseline=gone', '"baseline": Invalid value: "gone": there is no such cluster'],
    ['clusterhealths?baseline=east', '"baseline" is not for clusterhealths'],
    ['findings/x?baseline=east', '"baseline" is not for findings'],
    ['imagedrifts?nodes=true', '"nodes" is not for imagedrifts'],
    [
      `findings?labelSelector=fleet.fleetglass.io/severty=critical`,
      'unknown label "fleet.fleetglass.io/severty": did you mean "fleet.fleetglass.io/severity"?',
    ],
    ['findings?labelSelector=!fleet.fleetglass.io/x', 'unknown label "fleet.fleetglass.io/x"'],
    ['findings?nodes=perhaps', '"nodes": Invalid value: "perhaps"'],
    ['imagedrifts?labelSelector=fleet.fleetglass.io/baseline', 'takes only = and =='],
  ])('a viewer is refused %s', async (path, says) => {
    const { status, json } = await reader.askRoot(`${ROOT}/${path}`)
    expect([status, json.message]).toEqual([400, expect.stringContaining(says)])
  })
})

describe('nodes are judged when they are asked for', () => {
  test.each(['nodes=true', 'labelSelector=fleet.fleetglass.io/nodes%3Dtrue'])(
    '%s',
    async (query) => {
      const { items } = await list(
        fleet.admin,
        `findings?${query}&fieldSelector=status.kind%3DNode`,
      )
      expect(items.map(({ status }) => [status.cluster, status.issue, status.object])).toEqual([
        ['west', 'NodeNotReady', 'n1'],
      ])
      const health = await list(fleet.admin, `clusterhealths?${query}`)
      expect(named(health.items, 'west').status.topIssues).toEqual(['NodeNotReady'])
    },
  )

  test.each(['', 'nodes=false'])('and not otherwise: %s', async (query) => {
    const { items } = await list(fleet.admin, `clusterhealths?${query}`)
    expect(named(items, 'west').status.topIssues).toEqual([])
  })
})

describe('in which forms', () => {
  test('as a Table, with the age of what was observed', async () => {
    const { json, contentType } = await reader.askRoot(`${ROOT}/clusterhealths`, { accept: TABLE })
    expect(contentType).toContain('application/json')
    expect(json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      'Name',
      'Verdict',
      'Critical',
      'Warning',
      'Info',
      'Top issues',
      'Observed',
    ])
    expect(json.rows[0].cells.slice(0, 6)).toEqual(['east', 'fail', 2, 0, 0, 'CrashLoopBackOff'])
    expect(json.rows[0].cells[6]).toMatch(/^\d+s$/)
  })

  test('every resource has the column OBSERVED', async () => {
    for (const resource of [
      'clusterhealths',
      'findings',
      'versiondrifts',
      'imagedrifts',
      'crddrifts',
    ]) {
      const { json } = await reader.askRoot(`${ROOT}/${resource}`, { accept: TABLE })
      expect([resource, json.columnDefinitions.at(-1).name]).toEqual([resource, 'Observed'])
      expect(json.rows.length).toBeGreaterThan(0)
      for (const { cells } of json.rows) expect(cells.at(-1)).toMatch(/^\d+[smhd]/)
    }
  })

  test('one object, as YAML', async () => {
    const asking = { accept: 'application/yaml' }
    const { text } = await reader.askRoot(`${ROOT}/clusterhealths/east`, asking)
    expect(text).toContain('kind: ClusterHealth\n')
    expect(text).toContain('verdict: fail\n')
  })

  test('every object that is listed is there under its name', async () => {
    for (const resource of ['findings', 'imagedrifts', 'crddrifts', 'versiondrifts']) {
      for (const item of (await list(reader, resource)).items) {
        const path = `${ROOT}/${resource}/${encodeURIComponent(item.metadata.name)}`
        expect((await reader.askRoot(path)).json).toEqual(item)
      }
    }
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('%s: 405', async (method) => {
    for (const path of ['clusterhealths', 'findings/x']) {
      const { status, json } = await fleet.admin.askRoot(`${ROOT}/${path}`, { method })
      expect([status, json.reason]).toEqual([405, 'MethodNotAllowed'])
    }
  })

  test('a watch: 405', async () => {
    const { status } = await fleet.admin.askRoot(`${ROOT}/clusterhealths?watch=true`)
    expect(status).toBe(405)
  })

  test('another resource of the group: 404', async () => {
    const { status } = await fleet.admin.askRoot(`${ROOT}/clusters`)
    expect(status).toBe(404)
  })
})

describe('what tools are told', () => {
  test('discovery, plain and aggregated, for who may ask', async () => {
    const plain = await reader.askRoot(ROOT)
    expect(plain.json.resources.map(({ name }: { name: string }) => name)).toEqual([
      'clusterhealths',
      'crddrifts',
      'findings',
      'imagedrifts',
      'versiondrifts',
    ])
    for (const { verbs } of plain.json.resources) expect(verbs).toEqual(['get', 'list'])
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { text } = await reader.askRoot('/apis', { accept: aggregated })
    expect(text).toContain('"resource":"clusterhealths"')
    const nobody = await fleet.viewer([])
    expect((await nobody.askRoot(ROOT)).status).toBe(404)
    expect((await nobody.askRoot('/apis', { accept: aggregated })).text).not.toContain(
      'clusterhealths',
    )
  })

  test('OpenAPI describes every column and no writing', async () => {
    const { json } = await reader.askRoot('/openapi/v3/apis/fleet.fleetglass.io/v1alpha1')
    expect(
      json.components.schemas['io.fleetglass.fleet.v1alpha1.ClusterHealth'].properties.status
        .properties,
    ).toHaveProperty('verdict.description')
    for (const path of Object.values<object>(json.paths)) {
      expect(Object.keys(path).sort()).toEqual(['get', 'parameters'])
    }
  })
})
