import { describe, expect, test } from 'vitest'
import { KnownTypes } from '../../src/sync/known-types.ts'
import { MemberError } from '../../src/sync/member-error.ts'
import {
  readAggregated,
  readGroupList,
  readResourceList,
  readVersions,
} from '../../src/sync/read-discovery.ts'

const POD = {
  resource: 'pods',
  responseKind: { group: '', version: '', kind: 'Pod' },
  scope: 'Namespaced',
  singularResource: 'pod',
  verbs: ['get', 'list', 'watch'],
  shortNames: ['po'],
  categories: ['all'],
  subresources: [{ subresource: 'log', responseKind: { kind: 'Pod' }, verbs: ['get'] }],
}
const READ = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  singularName: 'pod',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: ['po'],
  categories: ['all'],
}

function aggregated(...versions: object[]) {
  return { kind: 'APIGroupDiscoveryList', items: [{ metadata: {}, versions }] }
}

describe('aggregated discovery', () => {
  const cases: ReadonlyArray<{ name: string; given: object; want: object[]; broken: string[] }> = [
    {
      name: 'a resource, without its subresources',
      given: aggregated({ version: 'v1', freshness: 'Current', resources: [POD] }),
      want: [READ],
      broken: [],
    },
    {
      name: 'a stale version is broken, and what it lists is still read',
      given: aggregated({ version: 'v1', freshness: 'Stale', resources: [POD] }),
      want: [READ],
      broken: ['v1'],
    },
    {
      name: 'a stale version without resources',
      given: {
        items: [{ metadata: { name: 'a.io' }, versions: [{ version: 'v1', freshness: 'Stale' }] }],
      },
      want: [],
      broken: ['a.io/v1'],
    },
    {
      name: 'an entry that is malformed breaks its version and hides no other',
      given: aggregated({
        version: 'v1',
        resources: [POD, { resource: 'no-kind' }, { resource: 'a/b', responseKind: { kind: 'B' } }],
      }),
      want: [READ],
      broken: ['v1'],
    },
    {
      name: 'names that fit in no path and on no terminal are left out',
      given: aggregated({
        version: 'v1',
        resources: [
          { ...POD, shortNames: ['po', '\u001b[2J'], categories: ['a b', 'all'] },
          { ...POD, responseKind: { kind: 'Pod\u001b[2J' } },
        ],
      }),
      want: [READ],
      broken: ['v1'],
    },
    ...['../../x', 'a b', '\u001b[2J', 'x'.repeat(254)].flatMap((odd) => [
      {
        name: `a group ${JSON.stringify(odd)}`,
        given: {
          items: [{ metadata: { name: odd }, versions: [{ version: 'v1', resources: [POD] }] }],
        },
        want: [],
        broken: [`${odd}/v1`],
      },
      {
        name: `a version ${JSON.stringify(odd)}`,
        given: aggregated({ version: odd, resources: [POD] }),
        want: [],
        broken: [odd],
      },
    ]),
  ]
  for (const { name, given, want, broken } of cases) {
    test(name, () => {
      const read = readAggregated(given as Record<string, unknown>)
      expect(read.resources).toEqual(want)
      expect([...read.broken]).toEqual(broken)
    })
  }

  for (const given of [
    {},
    { items: 'x' },
    { items: [{}] },
    { items: [{ metadata: { name: 1 }, versions: [] }] },
  ]) {
    test(`${JSON.stringify(given)} is no discovery`, () => {
      expect(() => readAggregated(given)).toThrow(MemberError)
    })
  }
})

describe('what is known of a member', () => {
  const info = (apiGroup: string, resource: string) => ({
    ...{ group: apiGroup, version: 'v1', resource, kind: 'K', singularName: '', namespaced: true },
    ...{ verbs: ['list'], shortNames: [], categories: [] },
  })
  const [pods, widgets] = [info('', 'pods'), info('shop.example.com', 'widgets')]
  const names = (known: KnownTypes) => known.served.map(({ resource }) => resource)

  test('a group version that did not answer keeps what was known of it', () => {
    const known = new KnownTypes([])
    known.learn({ resources: [pods, widgets], broken: new Set() })
    known.learn({ resources: [pods], broken: new Set(['shop.example.com/v1']) })
    expect(names(known)).toEqual(['pods', 'widgets'])
    known.learn({ resources: [pods], broken: new Set() })
    expect(names(known)).toEqual(['pods'])
  })
})

describe('plain discovery', () => {
  test('versions and groups', () => {
    expect(readVersions({ versions: ['v1'] })).toEqual([{ group: '', version: 'v1' }])
    const groups = [{ name: 'apps', versions: [{ groupVersion: 'apps/v1', version: 'v1' }] }]
    expect(readGroupList({ groups })).toEqual([{ group: 'apps', version: 'v1' }])
    expect(readVersions({ versions: ['../v1'] })).toEqual([])
    expect(readGroupList({ groups: [{ ...groups[0], name: 'apps/../x' }] })).toEqual([])
  })

  test('resources without subresources', () => {
    const resources = [
      {
        name: 'pods',
        kind: 'Pod',
        singularName: 'pod',
        namespaced: true,
        verbs: READ.verbs,
        shortNames: ['po'],
        categories: ['all'],
      },
      { name: 'pods/log', kind: 'Pod', namespaced: true, verbs: ['get'] },
    ]
    expect(readResourceList({ resources }, { group: '', version: 'v1' })).toEqual([READ])
  })

  const rubbish: ReadonlyArray<{ name: string; read: () => unknown }> = [
    { name: 'versions', read: () => readVersions({}) },
    { name: 'groups', read: () => readGroupList({ groups: 1 }) },
    { name: 'resources', read: () => readResourceList(null, { group: '', version: 'v1' }) },
  ]
  for (const { name, read } of rubbish) {
    test(`rubbish in place of ${name}`, () => expect(read).toThrow(MemberError))
  }
})
