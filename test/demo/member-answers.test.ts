import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemberServer } from '../../src/demo/member-server.ts'
import { resourcesOfRelease } from '../../src/demo/older-releases.ts'
import { builtInResources, recordedObjects, recordedOpenApi } from '../../src/demo/recorded.ts'
import { ODD_OBJECTS, REFUSED_OBJECTS } from '../support/odd-objects.ts'
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  PODS,
} from '../support/resource-types.ts'

const RECORDED = join(import.meta.dirname, '../recorded/member')
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(RECORDED, path), 'utf8'))

let member: MemberServer
const get = async (path: string, headers: Record<string, string> = {}, method = 'GET' as const) => {
  const answer = await request(member.url + path, { method, headers })
  return {
    status: answer.statusCode,
    contentType: answer.headers['content-type'],
    headers: answer.headers,
    body: Buffer.from(await answer.body.arrayBuffer()),
  }
}
const getJson = async (path: string, headers: Record<string, string> = {}) =>
  JSON.parse((await get(path, headers)).body.toString())

const start = async (options: { version?: string } = {}) => {
  const version = options.version ?? 'v1.36.2'
  const minor = Number(version.split('.')[1])
  member = new MemberServer({
    version,
    resources: resourcesOfRelease(builtInResources(), minor),
    openApi: recordedOpenApi(),
  })
  await member.start()
}
afterEach(async () => await member.stop())

describe('errors are those of a real API server', () => {
  beforeEach(async () => await start())
  const cases = readJson('cases.json') as ReadonlyArray<{
    request: { method: string; path: string; headers: Record<string, string> }
    response: { status: number; contentType: string; body: string }
  }>
  const reading = cases.filter(({ request }) => request.method === 'GET')
  test.each(reading.map((one) => [one.request.path, one] as const))('%s', async (_, one) => {
    const answer = await get(one.request.path, one.request.headers)
    expect(answer.status).toBe(one.response.status)
    expect(answer.contentType).toBe(one.response.contentType)
    // 406 is the one answer that a real server indents.
    if (answer.status === 406) {
      expect(JSON.parse(answer.body.toString())).toEqual(JSON.parse(one.response.body))
    } else expect(answer.body.toString()).toBe(one.response.body)
  })

  test('a member is only read here: every write is refused', async () => {
    const answer = await request(`${member.url}/api/v1/namespaces/shop/pods`, { method: 'POST' })
    expect(answer.statusCode).toBe(405)
    expect(await answer.body.json()).toMatchObject({ reason: 'MethodNotAllowed', code: 405 })
  })
})

describe('discovery', () => {
  const recordedDefinitions = recordedObjects().filter(
    ({ of }) => of.resource === 'customresourcedefinitions',
  )
  const byName = (a: { metadata: { name?: string } }, b: { metadata: { name?: string } }) =>
    (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
  /** Not in the recorded definitions. */
  const known = ({ metadata }: { metadata: { name?: string } }) =>
    metadata.name !== 'widgets.example.com'
  const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

  test.each(['api', 'apis'])('aggregated, of /%s', async (root) => {
    await start()
    for (const { of, text } of recordedDefinitions) member.put(of, text)
    const answer = await get(`/${root}`, { accept: `${AGGREGATED},application/json` })
    expect(answer.contentType).toBe(AGGREGATED)
    const got = JSON.parse(answer.body.toString())
    const recorded = readJson(`discovery/${root}.aggregated.json`) as typeof got
    expect({ ...got, items: got.items.toSorted(byName) }).toEqual({
      ...recorded,
      items: recorded.items.filter(known).toSorted(byName),
    })
    const again = await get(`/${root}`, {
      accept: AGGREGATED,
      'if-none-match': String(answer.headers.etag),
    })
    expect(again.status).toBe(304)
  })

  test.each(['v1', 'apps_v1', 'batch_v1', 'policy_v1', 'devopstoolkitseries.com_v1alpha1'])(
    'plain, of %s',
    async (name) => {
      await start()
      for (const { of, text } of recordedDefinitions) member.put(of, text)
      const got = await getJson(name === 'v1' ? '/api/v1' : `/apis/${name.replace('_', '/')}`)
      const recorded = readJson(`discovery/resources/${name}.json`) as typeof got
      const comparable = (list: typeof got) => ({
        ...list,
        resources: list.resources
          // A hash of how the server stores things, which is its own affair.
          .map(
            ({ storageVersionHash: _, ...resource }: { storageVersionHash?: string }) => resource,
          )
          .toSorted((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)),
      })
      expect(comparable(got)).toEqual(comparable(recorded))
    },
  )

  test('plain, of /apis: groups with their versions, the preferred first', async () => {
    await start()
    const got = await getJson('/apis')
    const recorded = readJson('discovery/apis.json') as typeof got
    const builtIn = recorded.groups.filter(({ name }: { name: string }) => !/\.com$/.test(name))
    const sorted = (groups: ReadonlyArray<{ name: string }>) =>
      groups.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    expect(sorted(got.groups)).toEqual(sorted(builtIn))
  })

  const RELEASES: ReadonlyArray<{ version: string; asked: string; kind: string }> = [
    { version: 'v1.36.2', asked: 'v2', kind: 'apidiscovery.k8s.io/v2' },
    { version: 'v1.27.16', asked: 'v2', kind: 'v1' },
    { version: 'v1.27.16', asked: 'v2beta1', kind: 'apidiscovery.k8s.io/v2beta1' },
    { version: 'v1.20.15', asked: 'v2beta1', kind: 'v1' },
  ]
  test.each(RELEASES)('$version asked for aggregated $asked answers $kind', async (release) => {
    await start(release)
    const accept = `application/json;g=apidiscovery.k8s.io;v=${release.asked};as=APIGroupDiscoveryList,application/json`
    expect((await getJson('/apis', { accept })).apiVersion).toBe(release.kind)
  })

  test('an old release serves beta versions in place of stable ones, and beside them', async () => {
    await start({ version: 'v1.20.15' })
    const groups = member.resources.groups()
    expect(groups.get('policy')).toEqual(['v1beta1'])
    expect(groups.get('discovery.k8s.io')).toEqual(['v1beta1'])
    expect(groups.get('networking.k8s.io')).toEqual(['v1', 'v1beta1'])
    expect(groups.get('batch')).toEqual(['v1', 'v1beta1'])
    expect(groups.get('extensions')).toEqual(['v1beta1'])
    expect(groups.get('autoscaling')).toEqual(['v1', 'v2beta2'])
  })
})

describe('one object in several versions', () => {
  beforeEach(async () => await start({ version: 'v1.20.15' }))
  const recorded = (resource: string, group: string) =>
    recordedObjects().find(({ of }) => of.resource === resource && of.group === group)!

  test('an ingress is one object under three group versions, in the form of each', async () => {
    const { of, text } = recorded('ingresses', 'networking.k8s.io')
    member.put(of, text)
    const path = '/namespaces/shop/ingresses/main'
    const stable = await getJson(`/apis/networking.k8s.io/v1${path}`)
    const beta = await getJson(`/apis/networking.k8s.io/v1beta1${path}`)
    const former = await getJson(`/apis/extensions/v1beta1${path}`)
    expect(stable.spec.rules[0].http.paths[0].backend).toEqual({
      service: { name: 'web', port: { number: 80 } },
    })
    for (const one of [beta, former]) {
      expect(one.spec.rules[0].http.paths[0].backend).toEqual({
        serviceName: 'web',
        servicePort: 80,
      })
    }
    expect(beta.apiVersion).toBe('networking.k8s.io/v1beta1')
    expect(former.apiVersion).toBe('extensions/v1beta1')
    expect(former.metadata).toEqual(stable.metadata)
  })

  test('an event is one object in both groups', async () => {
    const { of, text } = recorded('events', '')
    member.put(of, text)
    const [newer] = (await getJson('/apis/events.k8s.io/v1/events')).items
    const [core] = (await getJson('/api/v1/events')).items
    expect(newer.note).toBe(core.message)
    expect(newer.regarding).toEqual(core.involvedObject)
    expect(newer.metadata).toEqual(core.metadata)
  })

  test('a scaler in autoscaling/v1 is a CPU percentage', async () => {
    const scaler = recordedObjects().find(
      ({ of, text }) => of.resource === 'horizontalpodautoscalers' && text.includes('"name":"web"'),
    )!
    member.put(scaler.of, scaler.text)
    const path = '/namespaces/shop/horizontalpodautoscalers/web'
    const old = await getJson(`/apis/autoscaling/v1${path}`)
    expect(old.spec).toMatchObject({ maxReplicas: 10, targetCPUUtilizationPercentage: 80 })
    expect(old.spec.metrics).toBeUndefined()
    const beta = await getJson(`/apis/autoscaling/v2beta2${path}`)
    expect(beta).toMatchObject({ apiVersion: 'autoscaling/v2beta2', spec: { minReplicas: 2 } })
  })
})

describe('lists', () => {
  beforeEach(async () => {
    await start()
    for (const namespace of ['b', 'a', 'a-b']) {
      for (const name of ['y', 'x', 'x.1', 'x-1']) {
        member.put(PODS, { metadata: { name, namespace, labels: { n: name, ns: namespace } } })
      }
    }
  })
  const names = (list: {
    items: ReadonlyArray<{ metadata: { namespace: string; name: string } }>
  }) => list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  const ALL = ['a-b', 'a', 'b'].flatMap((ns) => ['x', 'x-1', 'x.1', 'y'].map((n) => `${ns}/${n}`))

  test('are in the order of etcd’s keys', async () => {
    const list = await getJson('/api/v1/pods')
    expect(names(list)).toEqual(ALL)
    expect(list).toMatchObject({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: member.resourceVersion },
    })
    expect(list.items[0].kind).toBeUndefined()
    expect(list.items[0].apiVersion).toBeUndefined()
  })

  test.each([1, 5, 12])(
    'in pages of %i show one moment, whatever happens between',
    async (limit) => {
      const seen: string[] = []
      const revisions = new Set<string>()
      let token = ''
      let left = ALL.length
      do {
        const query = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
        const page = await getJson(`/api/v1/pods?limit=${limit}${query}`)
        seen.push(...names(page))
        revisions.add(page.metadata.resourceVersion)
        left -= page.items.length
        token = page.metadata.continue ?? ''
        expect(page.metadata.remainingItemCount).toBe(left > 0 ? left : undefined)
        member.remove(PODS, 'b', 'y')
        member.put(PODS, { metadata: { name: `later-${seen.length}`, namespace: 'b' } })
      } while (token !== '')
      expect(seen).toEqual(ALL)
      expect(revisions.size).toBe(1)
    },
  )

  test('of one namespace continue within it', async () => {
    const first = await getJson('/api/v1/namespaces/a/pods?limit=2')
    const token = first.metadata.continue
    expect(JSON.parse(Buffer.from(token, 'base64url').toString()).start).toBe('/x-1\0')
    const second = await getJson(`/api/v1/namespaces/a/pods?limit=2&continue=${token}`)
    expect([...names(first), ...names(second)]).toEqual(ALL.filter((key) => key.startsWith('a/')))
  })

  test('do not tell the remaining count of a selection', async () => {
    const list = await getJson('/api/v1/pods?limit=1&labelSelector=n%3Dx')
    expect(list.metadata.continue).toBeDefined()
    expect(list.metadata.remainingItemCount).toBeUndefined()
  })

  const SELECTIONS: ReadonlyArray<{ query: string; want: readonly string[] }> = [
    { query: 'labelSelector=n+in+(y),ns!%3Da', want: ['a-b/y', 'b/y'] },
    { query: 'fieldSelector=metadata.name%3Dy', want: ['a-b/y', 'a/y', 'b/y'] },
    { query: 'fieldSelector=metadata.name%3Dy,metadata.namespace!%3Da', want: ['a-b/y', 'b/y'] },
    { query: 'fieldSelector=status.phase%3DRunning', want: [] },
  ]
  test.each(SELECTIONS)('?$query', async ({ query, want }) => {
    expect(names(await getJson(`/api/v1/pods?${query}`))).toEqual(want)
  })

  test('expire with the history behind them, and can be gone on with at a price', async () => {
    const first = await getJson('/api/v1/pods?limit=5')
    member.put(PODS, { metadata: { name: 'zz', namespace: 'b' } })
    member.compact()
    const expired = await get(`/api/v1/pods?limit=50&continue=${first.metadata.continue}`)
    expect(expired.status).toBe(410)
    const status = JSON.parse(expired.body.toString())
    expect(status).toMatchObject({ reason: 'Expired', code: 410 })
    const rest = await getJson(`/api/v1/pods?continue=${status.metadata.continue}`)
    expect(names(rest)).toEqual([...ALL.slice(5), 'b/zz'])
  })

  const VERSIONS: ReadonlyArray<{ what: string; query: (now: bigint) => string; status: number }> =
    [
      { what: 'any', query: () => 'resourceVersion=0', status: 200 },
      {
        what: 'exactly one that is kept',
        query: (now) => `resourceVersion=${now - 1n}&resourceVersionMatch=Exact`,
        status: 200,
      },
      {
        what: 'exactly one that is compacted',
        query: () => 'resourceVersion=5&resourceVersionMatch=Exact',
        status: 410,
      },
      {
        what: 'one that is not reached',
        query: (now) => `resourceVersion=${now + 1n}&resourceVersionMatch=NotOlderThan`,
        status: 504,
      },
      {
        what: 'not older than one',
        query: () => 'resourceVersion=5&resourceVersionMatch=NotOlderThan',
        status: 200,
      },
      { what: 'no number', query: () => 'resourceVersion=x', status: 400 },
    ]
  test.each(VERSIONS)('at $what: $status', async ({ query, status }) => {
    expect((await get(`/api/v1/pods?${query(BigInt(member.resourceVersion))}`)).status).toBe(status)
  })

  test('at exactly one revision show what was there', async () => {
    const before = member.resourceVersion
    member.remove(PODS, 'a', 'x')
    const list = await getJson(`/api/v1/pods?resourceVersion=${before}&resourceVersionMatch=Exact`)
    expect(names(list)).toEqual(ALL)
  })

  test('of metadata alone', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    const list = await getJson('/api/v1/namespaces/b/pods?limit=1', { accept })
    expect(list.kind).toBe('PartialObjectMetadataList')
    expect(Object.keys(list.items[0])).toEqual(['kind', 'apiVersion', 'metadata'])
  })

  test('are compressed when they are large and the client accepts it', async () => {
    member.put(CONFIG_MAPS, {
      metadata: { name: 'large', namespace: 'a' },
      data: { a: 'x'.repeat(200_000) },
    })
    const answer = await get('/api/v1/configmaps', { 'accept-encoding': 'gzip' })
    expect(answer.headers['content-encoding']).toBe('gzip')
    expect(answer.body.length).toBeLessThan(10_000)
    expect(JSON.parse(gunzipSync(answer.body).toString()).items).toHaveLength(1)
  })
})

describe('objects', () => {
  beforeEach(async () => await start())

  test.each(Object.entries({ ...ODD_OBJECTS, ...REFUSED_OBJECTS }))(
    '%s: every byte comes back',
    async (name, text) => {
      member.put(CONFIG_MAPS, text)
      const data = text.subarray(text.indexOf('"data"'))
      const got = await get(`/api/v1/namespaces/odd/configmaps/${name}`)
      expect(got.body.includes(data)).toBe(true)
      const list = await get('/api/v1/configmaps')
      expect(list.body.includes(data)).toBe(true)
    },
  )

  test('keep uid and creation time when they are updated, and lose them when made anew', async () => {
    const first = member.put(CONFIG_MAPS, { metadata: { name: 'a', namespace: 'x' } })
    const second = member.put(CONFIG_MAPS, { metadata: { name: 'a', namespace: 'x' }, data: {} })
    expect(second.uid).toBe(first.uid)
    expect(second.revision).toBe(first.revision + 1n)
    member.remove(CONFIG_MAPS, 'x', 'a')
    expect(member.put(CONFIG_MAPS, { metadata: { name: 'a', namespace: 'x' } }).uid).not.toBe(
      first.uid,
    )
  })

  test('a definition makes its type served, and takes its objects with it', async () => {
    const definition = recordedObjects().find(({ text }) => text.includes('sqlclaims.devops'))!
    expect((await get('/apis/devopstoolkitseries.com/v1alpha1/sqlclaims')).body.toString()).toBe(
      '404 page not found\n',
    )
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition.text)
    const claims = { group: 'devopstoolkitseries.com', resource: 'sqlclaims' }
    member.put(claims, { metadata: { name: 'my-db-01', namespace: 'a-team' } })
    const list = await getJson('/apis/devopstoolkitseries.com/v1alpha1/sqlclaims')
    expect(list.kind).toBe('SQLClaimList')
    expect(list.items[0]).toMatchObject({ kind: 'SQLClaim', metadata: { name: 'my-db-01' } })
    member.remove(CUSTOM_RESOURCE_DEFINITIONS, '', 'sqlclaims.devopstoolkitseries.com')
    expect((await get('/apis/devopstoolkitseries.com/v1alpha1/sqlclaims')).status).toBe(404)
    expect(member.list(claims)).toEqual([])
  })

  test('events can be selected by what they are about', async () => {
    for (const { of, text } of recordedObjects())
      if (of.resource === 'events') member.put(EVENTS, text)
    const about = await getJson('/api/v1/events?fieldSelector=involvedObject.name%3Dcrashloop')
    expect(about.items).toHaveLength(1)
  })
})

describe('beside objects', () => {
  test.each(['/healthz', '/livez', '/readyz', '/readyz/ping'])('%s', async (path) => {
    await start()
    const answer = await get(path)
    expect(answer.body.toString()).toBe('ok')
  })

  test('/version tells the release, with the fields that release has', async () => {
    await start()
    const recorded = readJson('discovery/version.json') as Record<string, string>
    const got = await getJson('/version')
    expect(Object.keys(got)).toEqual(Object.keys(recorded))
    expect(got).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.2' })
    member.upgrade('v1.20.15')
    expect((await getJson('/version')).emulationMajor).toBeUndefined()
  })

  test('/openapi/v3 lists the documents of what is served, and serves them', async () => {
    await start()
    const { paths } = await getJson('/openapi/v3')
    expect(paths['apis/apps/v1'].serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/)
    expect(paths['apis/devopstoolkitseries.com/v1alpha1']).toBeUndefined()
    const document = await getJson(paths['apis/apps/v1'].serverRelativeURL)
    expect(document.components.schemas['io.k8s.api.apps.v1.Deployment']).toBeDefined()
    expect((await get('/openapi/v3/apis/nope/v1')).status).toBe(404)
  })

  test('a release before 1.24 has no OpenAPI v3', async () => {
    await start({ version: 'v1.20.15' })
    expect((await get('/openapi/v3')).status).toBe(404)
  })
})
