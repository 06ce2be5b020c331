import { describe, expect, test } from 'vitest'
import type { ResourceInfo } from '../../src/kube/group-resource.ts'
import { apiVersionOf } from '../../src/kube/group-resource.ts'
import { compareVersions } from '../../src/kube/version-order.ts'
import { FleetVersions } from '../../src/sync/fleet-versions.ts'
import { isAbout } from '../../src/sync/involved-events.ts'
import {
  resolveSyncList,
  type SyncList,
  wantsType,
  withInvolvedEvents,
} from '../../src/sync/sync-list.ts'

function served(
  apiVersion: string,
  resource: string,
  verbs = ['get', 'list', 'watch'],
): ResourceInfo {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return {
    ...{ group: group!, version: version!, resource, verbs },
    ...{ kind: resource, singularName: '', shortNames: [], categories: [], namespaced: true },
  }
}

const MEMBER = [
  served('v1', 'pods'),
  served('v1', 'events'),
  served('v1', 'bindings', ['create']),
  served('events.k8s.io/v1', 'events'),
  served('apps/v1', 'deployments'),
  served('extensions/v1beta1', 'deployments'),
  served('extensions/v1beta1', 'ingresses'),
  served('networking.k8s.io/v1beta1', 'ingresses'),
  served('autoscaling/v1', 'horizontalpodautoscalers'),
  served('autoscaling/v2beta2', 'horizontalpodautoscalers'),
  served('autoscaling/v2', 'horizontalpodautoscalers'),
  served('shop.example.com/v1', 'widgets'),
]

const list = (given: Partial<SyncList>): SyncList => ({
  wanted: [],
  excluded: [],
  allCustomResources: false,
  ...given,
})

function resolve(given: Partial<SyncList>, preferVersion?: () => string) {
  const { targets, missing } = resolveSyncList({
    served: MEMBER,
    list: list(given),
    isCustom: ({ group }) => group === 'shop.example.com',
    ...(preferVersion && { preferVersion }),
  })
  return {
    targets: targets.map(({ type, info }) => `${type.resource} in ${apiVersionOf(info)}`),
    missing: missing.map(({ group, resource, reason }) => `${resource}.${group}: ${reason}`),
    served: targets.map(({ servedVersions }) => servedVersions.join(' ')),
  }
}

const HPA = 'horizontalpodautoscalers'

describe('the types to mirror', () => {
  const cases: ReadonlyArray<{
    name: string
    list: Partial<SyncList>
    want: string[]
    missing?: string[]
  }> = [
    { name: 'nothing asked, nothing mirrored', list: {}, want: [] },
    { name: 'one', list: { wanted: [{ group: '', resources: ['pods'] }] }, want: ['pods in v1'] },
    {
      name: 'all of a group',
      list: { wanted: [{ group: '', resources: ['*'] }] },
      want: ['events in v1', 'pods in v1'],
    },
    {
      name: 'all of all groups: each type once, by its home group and newest version',
      list: { wanted: [{ group: '*', resources: ['*'] }] },
      want: [
        'events in v1',
        'pods in v1',
        'deployments in apps/v1',
        `${HPA} in autoscaling/v2`,
        'ingresses in networking.k8s.io/v1beta1',
        'widgets in shop.example.com/v1',
      ],
    },
    {
      name: 'one name in all groups',
      list: { wanted: [{ group: '*', resources: ['widgets'] }] },
      want: ['widgets in shop.example.com/v1'],
    },
    {
      name: 'by the group that it moved from',
      list: { wanted: [{ group: 'extensions', resources: ['ingresses', 'deployments'] }] },
      want: ['deployments in apps/v1', 'ingresses in networking.k8s.io/v1beta1'],
    },
    {
      name: 'a version that is asked for',
      list: { wanted: [{ group: 'autoscaling', versions: ['v1'], resources: [HPA] }] },
      want: [`${HPA} in autoscaling/v1`],
    },
    {
      name: 'the best of the versions asked for, over all entries: stable before beta',
      list: {
        wanted: [
          { group: 'autoscaling', versions: ['v1'], resources: ['*'] },
          { group: 'autoscaling', versions: ['v2beta2'], resources: [HPA] },
        ],
      },
      want: [`${HPA} in autoscaling/v1`],
    },
    {
      name: 'a version that is not served',
      list: { wanted: [{ group: 'autoscaling', versions: ['v3'], resources: [HPA] }] },
      want: [],
      missing: [`${HPA}.autoscaling: the cluster does not serve it in v3`],
    },
    {
      name: 'a type that is not served',
      list: { wanted: [{ group: 'a.io', resources: ['bs'] }] },
      want: [],
      missing: ['bs.a.io: the cluster does not serve it'],
    },
    {
      name: 'a type that cannot be listed',
      list: { wanted: [{ group: '', resources: ['bindings'] }] },
      want: [],
      missing: ['bindings.: the cluster does not serve it'],
    },
    {
      name: 'all custom resources',
      list: { allCustomResources: true },
      want: ['widgets in shop.example.com/v1'],
    },
    {
      name: 'exclusions win, over names and stars',
      list: {
        wanted: [
          { group: '*', resources: ['*'] },
          { group: '', resources: ['pods'] },
        ],
        allCustomResources: true,
        excluded: [
          { group: '', resources: ['pods'] },
          { group: 'shop.example.com', resources: ['*'] },
          { group: 'extensions', resources: ['ingresses', 'deployments'] },
          { group: '*', resources: [HPA] },
        ],
      },
      want: ['events in v1'],
    },
  ]
  for (const { name, list: given, want, missing = [] } of cases) {
    test(name, () => expect(resolve(given)).toMatchObject({ targets: want, missing }))
  }

  test('all versions that are served are known, best first', () => {
    const { served: versions } = resolve({
      wanted: [{ group: 'autoscaling', versions: ['v1'], resources: ['*'] }],
    })
    expect(versions).toEqual(['autoscaling/v2 autoscaling/v1 autoscaling/v2beta2'])
  })

  test('the version that the fleet prefers', () => {
    const { targets } = resolve(
      { wanted: [{ group: 'autoscaling', resources: ['*'] }] },
      () => 'autoscaling/v1',
    )
    expect(targets).toEqual([`${HPA} in autoscaling/v1`])
  })
})

describe('whether a type is wanted that is not served', () => {
  const INGRESSES = { group: 'networking.k8s.io', resource: 'ingresses' }
  const cases: ReadonlyArray<{ name: string; list: Partial<SyncList>; want: boolean }> = [
    {
      name: 'named',
      list: { wanted: [{ group: INGRESSES.group, resources: ['ingresses'] }] },
      want: true,
    },
    {
      name: 'named by its former group',
      list: { wanted: [{ group: 'extensions', resources: ['ingresses'] }] },
      want: true,
    },
    { name: 'by star', list: { wanted: [{ group: '*', resources: ['*'] }] }, want: true },
    { name: 'not named', list: { wanted: [{ group: '', resources: ['*'] }] }, want: false },
    {
      name: 'excluded',
      list: {
        wanted: [{ group: '*', resources: ['*'] }],
        excluded: [{ group: 'extensions', resources: ['ingresses'] }],
      },
      want: false,
    },
    { name: 'built in, so no custom resource', list: { allCustomResources: true }, want: false },
  ]
  for (const { name, list: given, want } of cases) {
    test(name, () => expect(wantsType(list(given), INGRESSES)).toBe(want))
  }
})

test('versions in the order of kube-apiserver', () => {
  const ordered = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ]
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered)
})

describe('the version that most of the fleet serves', () => {
  const type = { group: 'autoscaling', resource: HPA }
  const cluster = (...servedVersions: string[]) =>
    ({ resources: [{ ...type, servedVersions }] }) as unknown as Parameters<
      FleetVersions['learn']
    >[0]['clusters'][number]
  const cases: ReadonlyArray<{ name: string; fleet: string[][]; served: string[]; want: string }> =
    [
      { name: 'nothing known yet: the newest', fleet: [], served: ['v2', 'v1'], want: 'v2' },
      { name: 'alone: the newest', fleet: [['v2', 'v1']], served: ['v2', 'v1'], want: 'v2' },
      {
        name: 'most serve the newest',
        fleet: [['v2', 'v1'], ['v2', 'v1'], ['v1']],
        served: ['v2', 'v1'],
        want: 'v2',
      },
      { name: 'half is not most', fleet: [['v2', 'v1'], ['v1']], served: ['v2', 'v1'], want: 'v1' },
      {
        name: 'no version is common: the newest',
        fleet: [['v3'], ['v2'], ['v1']],
        served: ['v3'],
        want: 'v3',
      },
    ]
  for (const { name, fleet, served: own, want } of cases) {
    test(name, () => {
      const versions = new FleetVersions()
      versions.learn({ clusters: fleet.map((one) => cluster(...one)) })
      expect(versions.prefer(type, own)).toBe(want)
    })
  }
})

describe('events of certain resources', () => {
  const kinds = (given: Partial<SyncList>) => {
    const whole = withInvolvedEvents(list(given))
    const { targets } = resolveSyncList({ served: MEMBER, list: whole, isCustom: () => false })
    return targets.find(({ type }) => type.resource === 'events')?.involved
  }
  const entry = (group: string, eventsInvolvedResources: string[]) => ({
    ...{ group, resources: ['pods'], eventsInvolvedResources },
  })
  const cases: ReadonlyArray<{ name: string; given: Partial<SyncList>; want: unknown }> = [
    {
      name: 'of one',
      given: { wanted: [entry('', ['pods'])] },
      want: [{ group: '', kind: 'pods' }],
    },
    { name: 'of a group', given: { wanted: [entry('apps', ['*'])] }, want: [{ group: 'apps' }] },
    {
      name: 'of one in any group',
      given: { wanted: [entry('*', ['deployments'])] },
      want: [
        { group: 'apps', kind: 'deployments' },
        { group: 'extensions', kind: 'deployments' },
      ],
    },
    { name: 'of what is not served: none', given: { wanted: [entry('', ['nodes'])] }, want: [] },
    {
      name: 'all are wanted anyway',
      given: { wanted: [entry('', ['pods']), { group: '', resources: ['events'] }] },
      want: undefined,
    },
    {
      name: 'events are excluded',
      given: {
        wanted: [entry('', ['pods'])],
        excluded: [{ group: '', resources: ['events'] }],
      },
      want: undefined,
    },
  ]
  for (const { name, given, want } of cases) {
    test(name, () => expect(kinds(given)).toEqual(want))
  }

  test('by what an event is about', () => {
    const about = (reference: object, key = 'involvedObject') =>
      isAbout(
        [{ group: 'apps', kind: 'Deployment' }],
        Buffer.from(JSON.stringify({ [key]: reference })),
      )
    expect(about({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBe(true)
    expect(about({ apiVersion: 'apps/v1', kind: 'Deployment' }, 'regarding')).toBe(true)
    expect(about({ kind: 'Deployment' })).toBe(true)
    expect(about({ apiVersion: 'apps/v1', kind: 'ReplicaSet' })).toBe(false)
    expect(about({ apiVersion: 'v1', kind: 'Deployment' })).toBe(false)
    expect(about({ apiVersion: 'v1', kind: 'Pod' }, 'regarding')).toBe(false)
  })
})
