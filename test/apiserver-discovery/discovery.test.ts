import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type DocumentServer, documentServer, grant } from '../support/document-server.ts'
import {
  type MirroredType,
  mirrorCluster,
  recordedResources,
  recordedTypes,
  versionDocument,
} from '../support/mirrored-clusters.ts'
import { until } from '../support/until.ts'

const FLEET = '/apis/clusterpedia.io/v1beta1/resources'
const member = (name: string) => `${FLEET}/clusters/${name}`
const AGGREGATED_V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const AGGREGATED_V2BETA1 =
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'

const PODS: MirroredType = {
  ...{ group: '', resource: 'pods', kind: 'Pod', singularName: 'pod', namespaced: true },
  ...{ shortNames: ['po'], categories: ['all'], versions: ['v1'] },
}
const NODES: MirroredType = {
  ...{ group: '', resource: 'nodes', kind: 'Node', singularName: 'node', namespaced: false },
  ...{ shortNames: ['no'], categories: [], versions: ['v1'] },
}
const INGRESSES: MirroredType = {
  ...{ group: 'networking.k8s.io', resource: 'ingresses', kind: 'Ingress', namespaced: true },
  ...{ singularName: 'ingress', shortNames: ['ing'], categories: [] },
  versions: ['networking.k8s.io/v1beta1', 'extensions/v1beta1'],
}
const AUTOSCALERS: MirroredType = {
  ...{ group: 'autoscaling', resource: 'horizontalpodautoscalers', namespaced: true },
  ...{ kind: 'HorizontalPodAutoscaler', singularName: 'horizontalpodautoscaler' },
  ...{ shortNames: ['hpa'], categories: ['all'] },
  versions: ['autoscaling/v2beta2', 'autoscaling/v2beta1', 'autoscaling/v1'],
}
const GADGETS: MirroredType = {
  ...{ group: 'widgets.example.com', resource: 'gadgets', kind: 'Gadget', namespaced: true },
  ...{ singularName: 'gadget', shortNames: ['gd'], categories: [] },
  versions: ['widgets.example.com/v1beta1', 'widgets.example.com/v1alpha1'],
}

let database: TestDatabase
let fleet: DocumentServer
let admin: string
let viewer: string
/** Sees all of one cluster and nothing of the others. */
let owner: string

const READERS = ['administrator', 'owner of one cluster'] as const
const tokenOf = (who: (typeof READERS)[number]) => (who === 'administrator' ? admin : owner)

beforeAll(async () => {
  database = await testDatabase()
  await mirrorCluster(database.store, {
    name: 'dot-01',
    gitVersion: 'v1.36.2',
    types: recordedTypes(),
  })
  await mirrorCluster(database.store, {
    name: 'dot-02',
    gitVersion: 'v1.21.14-eks-abc',
    types: [PODS, NODES, INGRESSES, AUTOSCALERS],
  })
  await mirrorCluster(database.store, { name: 'dot-03', types: [GADGETS] })
  fleet = await documentServer(database.store)
  admin = await fleet.token('admin', 'system:masters')
  viewer = await fleet.token('jane')
  owner = await fleet.token('joe')
  fleet.setAccess([
    grant('jane', { clusters: ['dot-02'], namespaces: ['shop'] }),
    grant('joe', { clusters: ['dot-01'] }),
  ])
  await until(() => fleet.access.rulesOf({ user: 'joe', groups: [] }).length > 0)
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

async function get(url: string, options: { accept?: string; as?: string; etag?: string } = {}) {
  return fleet.server.inject({
    url,
    headers: {
      authorization: `Bearer ${options.as ?? admin}`,
      ...(options.accept && { accept: options.accept }),
      ...(options.etag && { 'if-none-match': options.etag }),
    },
  })
}

function recorded(file: string) {
  const folder = join(import.meta.dirname, '../recorded/member/discovery')
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

/** What is recorded of a member, of what a reader can do with a mirror of it. */
function readable<T extends { verbs: readonly string[]; storageVersionHash?: string }>(
  resource: T,
) {
  const { storageVersionHash, ...rest } = resource
  return { ...rest, verbs: ['get', 'list'] }
}

describe.each(READERS)('a mirrored member says what the member says, to the %s', (who) => {
  test.each([
    'v1',
    'apps/v1',
    'autoscaling/v2',
    'networking.k8s.io/v1',
    'events.k8s.io/v1',
    'widgets.example.com/v1alpha1',
  ])('the resources of %s', async (groupVersion) => {
    const path = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`
    const { statusCode, headers, json } = await get(`${member('dot-01')}${path}`, {
      as: tokenOf(who),
    })
    const wanted = recordedResources(groupVersion)
      .resources.filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
      .map(readable)
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('application/json')
    expect(json().resources).toEqual(wanted)
    expect(Object.keys(json()).filter((key) => key !== 'apiVersion')).toEqual([
      ...['kind', 'groupVersion', 'resources'],
    ])
  })

  test.each([
    ['/api', 'api.aggregated.json', AGGREGATED_V2],
    ['/apis', 'apis.aggregated.json', AGGREGATED_V2],
    ['/apis', 'apis.aggregated.json', AGGREGATED_V2BETA1],
  ])('%s aggregated is %s as %s', async (path, file, accept) => {
    const { headers, json } = await get(`${member('dot-01')}${path}`, {
      accept: `${accept},application/json`,
      as: tokenOf(who),
    })
    const version = accept === AGGREGATED_V2 ? 'v2' : 'v2beta1'
    const wanted = recorded(file)
    for (const item of wanted.items) {
      for (const listed of item.versions) {
        listed.resources = listed.resources
          .filter(({ verbs }: { verbs: string[] }) => verbs.includes('list'))
          .map((resource: { verbs: string[]; subresources?: unknown }) => {
            const { subresources, ...rest } = resource
            return readable(rest)
          })
      }
      item.versions = item.versions.filter(
        ({ resources }: { resources: unknown[] }) => resources.length > 0,
      )
    }
    wanted.items = wanted.items.filter(({ versions }: { versions: unknown[] }) => versions.length)
    expect(headers['content-type']).toBe(accept)
    expect(headers.vary).toBe('Accept')
    expect(json()).toEqual({ ...wanted, apiVersion: `apidiscovery.k8s.io/${version}` })
  })

  test('/apis lists the groups in the recorded order', async () => {
    const { json } = await get(`${member('dot-01')}/apis`, { as: tokenOf(who) })
    const wanted = recorded('apis.json')
    const served = new Set(json().groups.map(({ name }: { name: string }) => name))
    wanted.groups = wanted.groups.filter(({ name }: { name: string }) => served.has(name))
    expect(served.size).toBeGreaterThan(15)
    expect(json()).toEqual(wanted)
  })

  test('/api names the core version and the address that was asked', async () => {
    const { json } = await get(`${member('dot-01')}/api`, { as: tokenOf(who) })
    expect(json()).toEqual({
      ...recorded('api.json'),
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'localhost:80' }],
    })
  })
})

test('the /version of a member is its own document, for whoever may see it', async () => {
  for (const as of [admin, viewer]) {
    const { json } = await get(`${member('dot-02')}/version`, { as })
    expect(json()).toEqual(versionDocument('v1.21.14-eks-abc'))
  }
})

describe('the fleet is the union of its members', () => {
  test('a type stands under every version that a member serves it in, best version first', async () => {
    const { json } = await get(`${FLEET}/apis/autoscaling`)
    expect(json()).toMatchObject({ kind: 'APIGroup', apiVersion: 'v1', name: 'autoscaling' })
    expect(json().versions.map(({ version }: { version: string }) => version)).toEqual([
      ...['v2', 'v1', 'v2beta2', 'v2beta1'],
    ])
    expect(json().preferredVersion).toEqual({ groupVersion: 'autoscaling/v2', version: 'v2' })
  })

  test('a former group is there when a member serves it, behind the group its types moved to', async () => {
    const { json } = await get(`${FLEET}/apis`)
    const names: string[] = json().groups.map(({ name }: { name: string }) => name)
    expect(names.indexOf('extensions')).toBeGreaterThan(names.indexOf('networking.k8s.io'))
    const former = await get(`${FLEET}/apis/extensions/v1beta1`)
    expect(former.json().resources.map(({ name }: { name: string }) => name)).toEqual(['ingresses'])
  })

  test('custom resources of two members are one group', async () => {
    const { json } = await get(`${FLEET}/apis/widgets.example.com/v1alpha1`)
    expect(json().resources.map(({ name }: { name: string }) => name)).toEqual([
      'gadgets',
      'widgets',
    ])
  })

  test('/version is that of the newest member', async () => {
    expect((await get(`${FLEET}/version`)).json().gitVersion).toBe('v1.36.2')
    expect((await get(`${FLEET}/version`, { as: viewer })).json().gitVersion).toBe(
      'v1.21.14-eks-abc',
    )
  })
})

describe('a viewer of one namespace in one cluster', () => {
  test.each([FLEET, member('dot-02')])('sees its namespaced types only, at %s', async (prefix) => {
    const core = await get(`${prefix}/api/v1`, { as: viewer })
    expect(core.json().resources.map(({ name }: { name: string }) => name)).toEqual(['pods'])
    const groups = await get(`${prefix}/apis`, { as: viewer, accept: AGGREGATED_V2 })
    expect(groups.json().items.map((item: { metadata: object }) => item.metadata)).toEqual([
      ...[{ name: 'autoscaling' }, { name: 'networking.k8s.io' }, { name: 'extensions' }],
    ])
  })

  test('is refused a cluster that is there and one that is not in the same words', async () => {
    const words = async (name: string) => {
      const { statusCode, json } = await get(`${member(name)}/api/v1`, { as: viewer })
      return { statusCode, text: JSON.stringify(json()).replaceAll(name, 'NAME') }
    }
    const there = await words('dot-01')
    expect(there).toEqual(await words('dot-99'))
    expect(there.statusCode).toBe(403)
    expect(there.text).toContain(
      `forbidden: User \\"jane\\" cannot get path \\"${member('NAME')}/api/v1\\"`,
    )
  })

  test('does not learn that a group exists elsewhere', async () => {
    const elsewhere = await get(`${FLEET}/apis/widgets.example.com/v1alpha1`, { as: viewer })
    expect([elsewhere.statusCode, elsewhere.body]).toEqual([404, '404 page not found\n'])
  })
})

describe.each(READERS)('what is not served to the %s', (who) => {
  test.each([
    ['an unknown group', '/apis/nope.example.com/v1', '404 page not found\n'],
    ['an unknown group by itself', '/apis/nope.example.com', '404 page not found\n'],
  ])('%s is the recorded text', async (_name, path, body) => {
    const answer = await get(`${FLEET}${path}`, { as: tokenOf(who) })
    expect([answer.statusCode, answer.body]).toEqual([404, body])
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  })

  test.each(['/apis/apps/v9', '/api/v2'])('the unknown version %s is a Status', async (path) => {
    const answer = await get(`${FLEET}${path}`, { as: tokenOf(who) })
    expect(answer.body).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}\n',
    )
  })

  test('a form that is not offered falls back to the plain one, and alone is refused', async () => {
    const unknown = 'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList'
    const both = await get(`${FLEET}/apis`, {
      accept: `${unknown},application/json`,
      as: tokenOf(who),
    })
    expect(both.json().kind).toBe('APIGroupList')
    expect((await get(`${FLEET}/apis`, { accept: unknown, as: tokenOf(who) })).statusCode).toBe(406)
  })
})

test('an administrator is told that a cluster does not exist', async () => {
  const answer = await get(`${member('dot-99')}/api`)
  expect(answer.statusCode).toBe(404)
  expect(answer.json().message).toBe('pediaclusters.cluster.clusterpedia.io "dot-99" not found')
})

describe.each(READERS)('the forms of an answer to the %s', (who) => {
  const read = (url: string, options: { accept?: string; etag?: string } = {}) =>
    get(url, { ...options, as: tokenOf(who) })

  test.each(['/api', '/apis', '/apis/apps/v1', '/version'])(
    'a client that has %s gets 304',
    async (path) => {
      const first = await read(`${FLEET}${path}`, { accept: `${AGGREGATED_V2},application/json` })
      expect(first.headers.etag).toMatch(/^"[0-9A-F]{128}"$/)
      const again = await read(`${FLEET}${path}`, {
        accept: `${AGGREGATED_V2},application/json`,
        etag: String(first.headers.etag),
      })
      expect([again.statusCode, again.body]).toEqual([304, ''])
    },
  )

  test('YAML and indented JSON are the same document', async () => {
    // A group's versions hold its preferred one once more.
    const groups = await read(`${FLEET}/apis`, { accept: 'application/yaml' })
    expect(parse(groups.body)).toEqual(JSON.parse((await read(`${FLEET}/apis`)).body))
    const yaml = await read(`${FLEET}/apis/networking.k8s.io/v1`, { accept: 'application/yaml' })
    expect(yaml.headers['content-type']).toBe('application/yaml')
    expect(yaml.body).toContain('- kind: Ingress\n')
    // What readers of YAML 1.1 take for false, as sigs.k8s.io/yaml does, is quoted.
    const core = await read(`${FLEET}/api/v1`, { accept: 'application/yaml' })
    expect(core.body).toContain('- "no"\n')
    const pretty = await read(`${FLEET}/apis/networking.k8s.io/v1?pretty=true`)
    expect((await read(`${FLEET}/version`)).body).toMatch(/^\{\n {2}"major": "1",\n/)
    expect(pretty.body).toContain('\n  "groupVersion": "networking.k8s.io/v1",\n')
  })

  test.each(['/api', '/apis', '/version', '/openapi/v3'])(
    '%s may end in a slash, at the root too',
    async (path) => {
      for (const prefix of [FLEET, member('dot-01'), '']) {
        const [plain, slash] = [await read(prefix + path), await read(`${prefix}${path}/`)]
        expect([slash.statusCode, slash.body]).toEqual([200, plain.body])
      }
    },
  )

  test('a HEAD has the headers of the GET', async () => {
    const url = `${FLEET}/apis/apps/v1`
    const headers = { authorization: `Bearer ${tokenOf(who)}` }
    const head = await fleet.server.inject({ method: 'HEAD', url, headers })
    const { headers: wanted } = await read(url)
    expect([head.statusCode, head.body]).toEqual([200, ''])
    expect([head.headers.etag, head.headers['content-length']]).toEqual([
      ...[wanted.etag, wanted['content-length']],
    ])
  })

  test('/ lists the paths that can be asked', async () => {
    const { json } = await read(`${FLEET}/`)
    expect(json().paths).toEqual(json().paths.toSorted())
    expect(json().paths).toEqual(
      expect.arrayContaining([
        '/api',
        '/api/v1',
        '/apis',
        '/apis/apps/v1',
        '/openapi/v2',
        '/readyz',
      ]),
    )
  })
})

test('a type that a member starts and a cluster that goes show at once', async () => {
  const before = await get(`${FLEET}/apis/new.example.com`)
  expect(before.statusCode).toBe(404)
  await mirrorCluster(database.store, {
    name: 'dot-04',
    types: [{ ...GADGETS, group: 'new.example.com', versions: ['new.example.com/v1'] }],
  })
  await until(async () => (await get(`${FLEET}/apis/new.example.com`)).statusCode === 200)
})
