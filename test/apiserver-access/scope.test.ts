import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Access, ScopeRequest } from '../../src/apiserver/access/access.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import type { Catalog, CatalogCluster, ClusterResource } from '../../src/apiserver/catalog.ts'
import { authenticated } from '../../src/apiserver/identity.ts'
import { systemClock } from '../../src/clock.ts'
import type { AccessRule, AccessSubject } from '../../src/kube/fleet-access.ts'
import { createLogger } from '../../src/log.ts'
import { accessList } from '../support/document-server.ts'
import { until } from '../support/until.ts'

/** Three clusters with pods, nodes and ingresses, one of which also has a custom type. */
const CATALOG: Catalog = {
  clusters: [
    cluster(1, 'dev-1', { env: 'dev' }),
    cluster(2, 'prod-1', { env: 'prod', region: 'eu' }),
    cluster(3, 'prod-2', { env: 'prod' }),
  ],
  columnSets: new Map(),
  types: new Map(),
}

function cluster(id: number, name: string, labels: Record<string, string>): CatalogCluster {
  return {
    ...{ id, name, labels, registrationUid: name, version: null, syncerSeenAt: null },
    ...{ staleReason: null, staleSince: null },
    resources: [
      type('', 'pods', true),
      type('', 'nodes', false),
      type('networking.k8s.io', 'ingresses', true),
    ],
  }
}

function type(group: string, resource: string, namespaced: boolean): ClusterResource {
  return {
    ...{ clusterId: 0, typeId: 0, group, resource, namespaced, kind: '', listKind: '' },
    ...{ singularName: '', shortNames: [], categories: [], apiVersion: 'v1', servedVersions: [] },
    ...{ status: 'Syncing', reason: '', message: '', changedAt: new Date(0) },
  }
}

const EVERYWHERE = { clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] }
const JANE = authenticated('jane', ['devs'])

const source = accessList()
let access: Access

beforeAll(async () => {
  access = await createAccess({
    ...{ catalog: { current: () => CATALOG }, source, clock: systemClock },
    log: createLogger('silent'),
  })
})

afterAll(() => access.close())

async function withRules(...rules: readonly Partial<AccessRule>[]): Promise<void> {
  await withSubject({ kind: 'User', name: 'jane' }, rules)
}

async function withSubject(subject: AccessSubject, rules: readonly Partial<AccessRule>[]) {
  const marker = crypto.randomUUID()
  const full = rules.map((rule) => {
    const { clusters, ...rest } = EVERYWHERE
    return 'clusterSelector' in rule ? { ...rest, ...rule } : { clusters, ...rest, ...rule }
  })
  source.set([
    { metadata: { name: 'a' }, spec: { subjects: [subject], rules: full } },
    {
      metadata: { name: 'marker' },
      spec: { subjects: [{ kind: 'User', name: marker }], rules: [EVERYWHERE] },
    },
  ])
  await until(() => access.rulesOf({ user: marker, groups: [] }).length === 1)
}

const LIST_PODS: ScopeRequest = {
  ...{ verb: 'list', group: '', resource: 'pods', clusters: 'every-cluster' },
}

/** `prod-1: shop,web; prod-2: *` */
function scopeText(request: Partial<ScopeRequest> = {}, identity = JANE): string {
  return access
    .scope(identity, { ...LIST_PODS, ...request })
    .map(
      ({ name, namespaces }) => `${name}: ${namespaces === 'every-namespace' ? '*' : namespaces}`,
    )
    .join('; ')
}

function refusal(request: Partial<ScopeRequest> = {}, identity = JANE): string {
  try {
    return `allowed: ${scopeText(request, identity)}`
  } catch (error) {
    return (error as Error).message
  }
}

const SHOP = { namespaces: ['shop'] }

describe('what a list may touch', () => {
  test.each<[string, Partial<AccessRule>[], Partial<ScopeRequest>, string]>([
    ['everything', [{}], {}, 'dev-1: *; prod-1: *; prod-2: *'],
    ['a glob of clusters', [{ clusters: ['prod-*'] }], {}, 'prod-1: *; prod-2: *'],
    ['one character', [{ clusters: ['prod-?'] }], {}, 'prod-1: *; prod-2: *'],
    [
      'a dot that is no wildcard',
      [{ clusters: ['*', 'prod.1'] }, {}],
      {},
      'dev-1: *; prod-1: *; prod-2: *',
    ],
    [
      'clusters by label',
      [{ clusterSelector: { matchLabels: { env: 'prod' } } }],
      {},
      'prod-1: *; prod-2: *',
    ],
    [
      'clusters without a label',
      [{ clusterSelector: { matchExpressions: [{ key: 'region', operator: 'DoesNotExist' }] } }],
      {},
      'dev-1: *; prod-2: *',
    ],
    [
      'NotIn holds for clusters that lack the label',
      [
        {
          clusterSelector: {
            matchExpressions: [{ key: 'region', operator: 'NotIn', values: ['eu'] }],
          },
        },
      ],
      {},
      'dev-1: *; prod-2: *',
    ],
    [
      'the union of rules',
      [
        { clusters: ['prod-1'], namespaces: ['web', 'shop'] },
        { clusters: ['prod-1'], namespaces: ['shop', 'db'] },
        { clusters: ['dev-1'] },
      ],
      {},
      'dev-1: *; prod-1: db,shop,web',
    ],
    [
      'a namespace that is asked',
      [{}],
      { namespace: 'shop' },
      'dev-1: shop; prod-1: shop; prod-2: shop',
    ],
    [
      'a namespace that only some grant',
      [
        { clusters: ['prod-1'], ...SHOP },
        { clusters: ['dev-1'], namespaces: ['web'] },
      ],
      { namespace: 'shop' },
      'prod-1: shop',
    ],
    [
      'clusters that are asked',
      [{ clusters: ['prod-*'] }],
      { clusters: ['dev-1', 'prod-2'] },
      'prod-2: *',
    ],
    [
      'the former group of a type',
      [{ apiGroups: ['extensions'] }],
      { group: 'networking.k8s.io', resource: 'ingresses' },
      'dev-1: *; prod-1: *; prod-2: *',
    ],
    [
      'a type by its former group',
      [{ apiGroups: ['networking.k8s.io'] }],
      { group: 'extensions', resource: 'ingresses' },
      'dev-1: *; prod-1: *; prod-2: *',
    ],
    [
      'a cluster that could be granted and is not there',
      [{ clusters: ['prod-*'] }],
      { clusters: ['prod-9'] },
      '',
    ],
    [
      'a type that nobody has',
      [{ clusters: ['dev-1'] }],
      { group: 'a.b', resource: 'cs' },
      'dev-1: *',
    ],
  ])('%s', async (...[, rules, request, expected]) => {
    await withRules(...rules)
    expect(scopeText(request)).toBe(expected)
  })
})

describe('what is refused, in Kubernetes’ words', () => {
  const CANNOT = 'User "jane" cannot list resource "pods" in API group ""'

  test.each<[string, Partial<AccessRule>[], Partial<ScopeRequest>, string]>([
    ['no rule at all', [], {}, `pods is forbidden: ${CANNOT} at the cluster scope`],
    [
      'another namespace',
      [SHOP],
      { namespace: 'web' },
      `pods is forbidden: ${CANNOT} in the namespace "web"`,
    ],
    [
      'another cluster',
      [{ clusters: ['dev-1'] }],
      { clusters: ['prod-1'], namespace: 'shop' },
      `pods is forbidden: ${CANNOT} in the namespace "shop" of cluster "prod-1"`,
    ],
    [
      'a cluster that does not exist, in the same words',
      [{ clusters: ['dev-1'] }],
      { clusters: ['prod-9'], namespace: 'shop' },
      `pods is forbidden: ${CANNOT} in the namespace "shop" of cluster "prod-9"`,
    ],
    [
      'a cluster that does not exist, where clusters are chosen by label',
      [{ clusterSelector: { matchLabels: { env: 'prod' } } }],
      { clusters: ['prod-9'] },
      `pods is forbidden: ${CANNOT} at the cluster scope of cluster "prod-9"`,
    ],
    [
      'a cluster-scoped type with a rule for namespaces',
      [SHOP],
      { resource: 'nodes' },
      'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'a verb that is not granted',
      [{ verbs: ['get'] }],
      {},
      `pods is forbidden: ${CANNOT} at the cluster scope`,
    ],
    [
      'one object of a group',
      [{ apiGroups: [''] }],
      { verb: 'get', group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' },
      'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" in the namespace "shop"',
    ],
    [
      'a rule of empty lists',
      [{ clusters: [] }, { namespaces: [] }, { resources: [] }],
      {},
      `pods is forbidden: ${CANNOT} at the cluster scope`,
    ],
    [
      'an empty selector',
      [{ clusterSelector: {} }],
      { clusters: ['dev-1'] },
      `pods is forbidden: ${CANNOT} at the cluster scope of cluster "dev-1"`,
    ],
    [
      'a verb that is no reading',
      // The schema lets none in: one that came from elsewhere grants nothing.
      [{ verbs: ['delete' as 'get'] }],
      {},
      `pods is forbidden: ${CANNOT} at the cluster scope`,
    ],
  ])('%s', async (...[, rules, request, expected]) => {
    await withRules(...rules)
    expect(refusal(request)).toBe(expected)
  })
})

describe('of whom a rule speaks', () => {
  test.each<[string, AccessSubject, string, string[], boolean]>([
    ['the user', { kind: 'User', name: 'jane' }, 'jane', [], true],
    ['another user', { kind: 'User', name: 'jane' }, 'jan', [], false],
    ['a user who is named as a group', { kind: 'Group', name: 'jane' }, 'jane', [], false],
    ['a member of the group', { kind: 'Group', name: 'devs' }, 'jane', ['devs'], true],
    [
      'everyone who said who they are',
      { kind: 'Group', name: 'system:authenticated' },
      'x',
      [],
      true,
    ],
    [
      'a service account',
      { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
      'system:serviceaccount:build:ci',
      [],
      true,
    ],
    [
      'a service account of another namespace',
      { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
      'system:serviceaccount:other:ci',
      [],
      false,
    ],
  ])('%s', async (...[, subject, user, groups, allowed]) => {
    await withSubject(subject, [{}])
    expect(refusal({}, authenticated(user, groups)).startsWith('allowed')).toBe(allowed)
  })

  test('members of system:masters need no rule', () => {
    const admin = authenticated('admin', ['system:masters'])
    expect(scopeText({ resource: 'nodes' }, admin)).toBe('dev-1: *; prod-1: *; prod-2: *')
    expect(access.mayName(admin, 'prod-9')).toBe(true)
  })
})

describe('the objects of our own groups', () => {
  const CLUSTERS = { group: 'cluster.clusterpedia.io', resource: 'pediaclusters' }
  const RIGHTS = { group: 'fleetglass.io', resource: 'fleetaccesses' }
  const visible = (names: (name: string) => boolean) =>
    ['dev-1', 'prod-1', 'prod-9'].filter(names).join(',')

  test('PediaClusters are those of the clusters that a rule covers', async () => {
    await withRules({ clusters: ['prod-*'] })
    expect(visible(access.authorizeRegistration(JANE, { ...CLUSTERS, verb: 'list' }))).toBe(
      'prod-1,prod-9',
    )
    await withRules({ clusterSelector: { matchLabels: { env: 'prod' } } })
    expect(visible(access.authorizeRegistration(JANE, { ...CLUSTERS, verb: 'watch' }))).toBe(
      'prod-1',
    )
  })

  test.each([
    [
      'another’s cluster by name',
      { ...CLUSTERS, verb: 'get', name: 'dev-1' },
      'pediaclusters.cluster.clusterpedia.io "dev-1" is forbidden: User "jane" cannot get resource "pediaclusters" in API group "cluster.clusterpedia.io" at the cluster scope',
    ],
    [
      'the status of another’s cluster',
      { ...CLUSTERS, resource: 'pediaclusters/status', verb: 'get', name: 'dev-1' },
      'pediaclusters.cluster.clusterpedia.io "dev-1" is forbidden: User "jane" cannot get resource "pediaclusters/status" in API group "cluster.clusterpedia.io" at the cluster scope',
    ],
    [
      'a cluster that is not there',
      { ...CLUSTERS, verb: 'get', name: 'dev-9' },
      'pediaclusters.cluster.clusterpedia.io "dev-9" is forbidden: User "jane" cannot get resource "pediaclusters" in API group "cluster.clusterpedia.io" at the cluster scope',
    ],
    [
      'a write',
      { ...CLUSTERS, verb: 'delete', name: 'prod-1' },
      'pediaclusters.cluster.clusterpedia.io "prod-1" is forbidden: User "jane" cannot delete resource "pediaclusters" in API group "cluster.clusterpedia.io" at the cluster scope',
    ],
    [
      'the rights, by a rule for all groups',
      { ...RIGHTS, verb: 'list' },
      'fleetaccesses.fleetglass.io is forbidden: User "jane" cannot list resource "fleetaccesses" in API group "fleetglass.io" at the cluster scope',
    ],
  ])('%s is refused', async (_name, request, message) => {
    await withRules({ clusters: ['prod-*'] })
    expect(() => access.authorizeRegistration(JANE, request)).toThrow(message)
  })

  test('the rights are read by whom a rule grants their group by name, and written by masters', async () => {
    await withRules({ apiGroups: ['fleetglass.io'] })
    expect(access.authorizeRegistration(JANE, { ...RIGHTS, verb: 'list' })('any')).toBe(true)
    const admin = authenticated('admin', ['system:masters'])
    expect(access.authorizeRegistration(admin, { ...RIGHTS, verb: 'create' })('any')).toBe(true)
  })
})
