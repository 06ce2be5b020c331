/** The grants that README.md shows, as objects of the API, and what they let their subjects see. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Access, ScopeRequest } from '../../src/apiserver/access/access.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { type CatalogCache, createCatalogCache } from '../../src/apiserver/catalog.ts'
import { authenticated } from '../../src/apiserver/identity.ts'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import type { FleetAccess } from '../../src/kube/fleet-access.ts'
import { createLogger } from '../../src/log.ts'
import { databaseAccessSource } from '../../src/registration/database-source.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { createRegistrations, type Registrations } from '../../src/registration/registrations.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { FilledCluster } from '../support/objects.ts'

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
const RIGHTS = README.slice(README.indexOf('\n## Rights\n'), README.indexOf('\n## Backup\n'))
const GRANTS: readonly FleetAccess[] = [...RIGHTS.matchAll(/^```yaml\n(.*?)^```$/gms)]
  .flatMap(([, text]) => parseAllDocuments(text!).map((document) => document.toJS()))
  .filter(({ kind }) => kind === 'FleetAccess')

const CORE = { group: '', version: 'v1', namespaced: true }
const TYPES = [
  { ...CORE, resource: 'pods', kind: 'Pod' },
  { ...CORE, resource: 'secrets', kind: 'Secret' },
  { ...CORE, resource: 'nodes', kind: 'Node', namespaced: false },
  { ...CORE, group: 'apps', resource: 'deployments', kind: 'Deployment' },
]
const CLUSTERS = { 'prod-eu': { team: 'a-team' }, 'prod-us': {}, 'dev-1': { team: 'a-team' } }

let database: TestDatabase
let registrations: Registrations
let catalog: CatalogCache
let access: Access

beforeAll(async () => {
  database = await testDatabase()
  for (const [name, labels] of Object.entries(CLUSTERS)) {
    const cluster = await FilledCluster.create(database.store, name, labels)
    for (const type of TYPES) await cluster.fill(type, [])
  }
  const log = createLogger('silent')
  const [clock, keyring] = [systemClock, createKeyring(randomBytes(32))]
  registrations = createRegistrations({ store: database.store, keyring, clock })
  for (const grant of GRANTS) {
    await registrations.create({
      kind: kindOfResource('fleetglass.io', 'fleetaccesses'),
      body: { text: JSON.stringify(grant), format: 'json' },
      options: { fieldManager: 'test', dryRun: false },
    })
  }
  catalog = await createCatalogCache(database.store, log)
  const source = databaseAccessSource(registrations)
  access = await createAccess({ catalog, source, log, clock })
})

afterAll(async () => {
  await access.close()
  await catalog.close()
  await registrations.close()
  await database.drop()
})

/** `prod-eu: *; dev-1: a-team`, or `403`. */
function seen(grant: FleetAccess, resource: string, group = ''): string {
  const [subject] = grant.spec.subjects
  const { kind, name, namespace } = subject!
  const user = kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name
  const identity =
    kind === 'Group' ? authenticated('someone', [name]) : authenticated(user, ['others'])
  const request: ScopeRequest = { verb: 'list', group, resource, clusters: 'every-cluster' }
  try {
    return access
      .scope(identity, request)
      .map((one) => {
        const { namespaces } = one
        return `${one.name}: ${namespaces === 'every-namespace' ? '*' : namespaces.join()}`
      })
      .join('; ')
  } catch (error) {
    expect(error).toMatchObject({ reason: 'Forbidden' })
    return '403'
  }
}

const EVERYWHERE = 'dev-1: *; prod-eu: *; prod-us: *'
const FLEET = 'fleet.fleetglass.io'

describe('the grants of README.md', () => {
  test('are five', () => {
    expect(GRANTS.map(({ metadata }) => metadata.name)).toEqual([
      ...['one-cluster', 'one-namespace', 'a-team', 'inventory', 'health'],
    ])
  })

  test.each([
    ['one-cluster', { pods: 'prod-eu: *', nodes: 'prod-eu: *', secrets: 'prod-eu: *' }],
    ['one-namespace', { pods: 'dev-1: shop; prod-eu: shop; prod-us: shop', nodes: '403' }],
    ['a-team', { pods: 'dev-1: a-team,a-team-jobs; prod-eu: a-team,a-team-jobs', nodes: '403' }],
    ['inventory', { nodes: EVERYWHERE, pods: '403', secrets: '403' }],
    ['health', { pods: '403', nodes: '403', secrets: '403' }],
  ])('%s', (name, expected) => {
    const grant = GRANTS.find(({ metadata }) => metadata.name === name)!
    for (const [resource, scope] of Object.entries(expected)) {
      expect([resource, seen(grant, resource)]).toEqual([resource, scope])
    }
  })

  test('inventory is of deployments too, of every namespace', () => {
    expect(seen(GRANTS[3]!, 'deployments', 'apps')).toBe(EVERYWHERE)
  })

  test('health is of the clusters that are named', () => {
    const [, , , , health] = GRANTS
    expect(seen(health!, 'clusterhealths', FLEET)).toBe('prod-eu: *; prod-us: *')
    expect(seen(health!, 'versiondrifts', FLEET)).toBe('403')
  })
})
