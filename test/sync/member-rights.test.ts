/** The manifest for members: the printed rights are enough, and one less is not. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { isClusterScoped } from '../../src/kube/cluster-scoped.ts'
import { memberRights, type PolicyRule } from '../../src/sync/member-rights.ts'
import { startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'
import { syncedFleet } from './synced-fleet.ts'

const PROGRAM = join(import.meta.dirname, '../../hack/fleetglass.mjs')
const DEPLOY = join(import.meta.dirname, '../../deploy/member')

async function manifest(...args: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    PROGRAM,
    'member-manifest',
    ...args,
  ])
  // As kubectl reads it, to which a plain `no` is false.
  return parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS())
}

const text = (rules: readonly PolicyRule[]) =>
  rules.map(({ apiGroups, resources, resourceNames, verbs }) =>
    [apiGroups.join(), resources.join(), resourceNames?.join() ?? '', verbs.join()].join(' | '),
  )

describe('rights', () => {
  const FOLLOW = 'get,list,watch'
  const IDENTITY = ' | namespaces | kube-system | get'
  const cases: ReadonlyArray<{
    name: string
    types: [group: string, resource: string][]
    byNamespace?: true
    cluster: string[]
    namespaced?: string[]
  }> = [
    { name: 'one type', types: [['', 'pods']], cluster: [` | pods |  | ${FOLLOW}`, IDENTITY] },
    {
      name: 'groups, each type once, under the name it is listed by',
      types: [
        ['apps', 'deployments'],
        ['', 'pods'],
        ['events.k8s.io', 'events'],
        ['', 'events'],
      ],
      cluster: [` | events,pods |  | ${FOLLOW}`, `apps | deployments |  | ${FOLLOW}`, IDENTITY],
    },
    {
      name: 'custom types need definitions',
      types: [['shop.example.com', 'widgets']],
      cluster: [
        `shop.example.com | widgets |  | ${FOLLOW}`,
        IDENTITY,
        `apiextensions.k8s.io | customresourcedefinitions |  | ${FOLLOW}`,
        `apiregistration.k8s.io | apiservices |  | ${FOLLOW}`,
      ],
    },
    { name: 'everything', types: [['*', '*']], cluster: [`* | * |  | ${FOLLOW}`] },
    {
      name: 'namespaces are the identity too',
      types: [['', 'namespaces']],
      cluster: [` | namespaces |  | ${FOLLOW}`],
    },
    {
      name: 'in namespaces',
      types: [
        ['', 'pods'],
        ['', 'nodes'],
        ['storage.k8s.io', 'storageclasses'],
      ],
      byNamespace: true,
      cluster: [
        ` | nodes |  | ${FOLLOW}`,
        `storage.k8s.io | storageclasses |  | ${FOLLOW}`,
        IDENTITY,
      ],
      namespaced: [` | pods |  | ${FOLLOW}`],
    },
  ]
  for (const { name, types, byNamespace = false, cluster, namespaced = [] } of cases) {
    test(name, () => {
      const rights = memberRights(
        types.map(([group, resource]) => ({ group, resource })),
        { byNamespace, isClusterScoped },
      )
      expect(text(rights.cluster)).toEqual(cluster)
      expect(text(rights.namespaced)).toEqual(namespaced)
    })
  }
})

test('a member that grants exactly what is printed is mirrored, without a complaint', async () => {
  const documents = await manifest('--resources', 'configmaps,deployments.apps,nodes')
  expect(documents.map(({ kind }) => kind)).toEqual([
    ...['Namespace', 'ServiceAccount', 'Secret', 'ClusterRole', 'ClusterRoleBinding'],
  ])
  const { rules } = documents[3] as { rules: PolicyRule[] }
  const member = await startMemberCluster()
  const refused: string[] = []
  member.server.authorize = ({ verb, group, resource }) => {
    const granted = rules.some(
      (rule) =>
        rule.apiGroups.includes(group) &&
        rule.resources.includes(resource) &&
        rule.verbs.includes(verb) &&
        (!rule.resourceNames || verb === 'get'),
    )
    if (!granted) refused.push(`${verb} ${resource}`)
    return granted
  }
  member.put(CONFIG_MAPS, { metadata: { name: 'one', namespace: 'default' } })
  const fleet = await syncedFleet()
  const syncResources = [
    { group: '', resources: ['configmaps', 'nodes'] },
    { group: 'apps', resources: ['deployments'] },
  ]
  await fleet.register('dot-01', { apiserver: member.url, syncResources })
  await fleet.ready('dot-01')
  for (const resource of ['configmaps', 'nodes']) {
    await expect
      .poll(() => fleet.syncCondition('dot-01', { group: '', resource }))
      .toMatchObject({
        status: 'Syncing',
      })
  }
  expect((await fleet.rows('dot-01', CONFIG_MAPS)).size).toBe(1)
  // Only what a sync without custom resources can do without.
  expect(refused.filter((one) => !/customresourcedefinitions|apiservices/.test(one))).toEqual([])
  await fleet.stop()
  await member.stop()
})

test('per namespace, a role in each', async () => {
  const documents = await manifest(
    '--resources',
    'pods,nodes',
    '--namespaces',
    'a,no',
    '--name',
    'm',
  )
  const roles = documents.filter(({ kind }) => kind === 'Role')
  expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['a', 'no'])
  expect(roles[0].rules).toEqual([
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  ])
})

test('what is in deploy/member only reads, and without Secrets where it says so', () => {
  for (const file of readdirSync(DEPLOY).filter((name) => name.endsWith('.yaml'))) {
    const documents = parseAllDocuments(readFileSync(join(DEPLOY, file), 'utf8')).map((one) =>
      one.toJS(),
    )
    for (const rule of documents.flatMap(({ rules }) => (rules ?? []) as PolicyRule[])) {
      expect(rule.verbs).toEqual(['get', 'list', 'watch'])
      const core = rule.apiGroups.some((group) => group === '' || group === '*')
      const secrets = core && rule.resources.some((one) => one === '*' || one === 'secrets')
      expect(secrets).toBe(file === 'with-secrets.yaml')
    }
  }
})
