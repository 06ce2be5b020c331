/** What a member says ends in conditions, logs and on terminals: it is shown, and cannot do harm there. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../src/demo/member-server.ts'
import { answerError } from '../../src/sync/member-error.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const TOKEN = 'a-token-that-is-shown-to-nobody'
const NASTY = `no: Bearer ${TOKEN} \u001b[2J\u009b31m\u202e\u2028\r\nX: 1`
const SHOWN = 'no: Bearer *** ?[2J?31m? X: 1'
const LIST = [{ group: '', resources: ['configmaps', 'pods'] }]

let fleet: SyncedFleet
let member: MemberCluster

beforeAll(async () => {
  fleet = await syncedFleet()
  member = await startMemberCluster({ tokens: { [TOKEN]: 'reader' } })
})

afterAll(async () => {
  await fleet.stop()
  await member.stop()
})

const register = (name: string) =>
  fleet.register(name, {
    apiserver: member.url,
    tokenData: Buffer.from(TOKEN).toString('base64'),
    syncResources: LIST,
  })

async function send({ response }: Exchange, code: number, body: object): Promise<void> {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(body)}\n`)
}

test('an error that repeats the token is told without it, in one harmless line', async () => {
  const status = { kind: 'Status', code: 500, message: NASTY }
  const heal = [
    member.answerWhenever({ of: CONFIG_MAPS, kind: 'list' }, (exchange) =>
      send(exchange, 500, status),
    ),
    member.answerWhenever({ of: PODS, kind: 'watch' }, (exchange) =>
      send(exchange, 200, { type: 'ERROR', object: status }),
    ),
  ]
  await register('repeats')
  const failed = async (of: typeof PODS) => {
    await until(async () => (await fleet.syncCondition('repeats', of))?.status === 'Error')
    return (await fleet.syncCondition('repeats', of))?.message
  }
  expect(await failed(CONFIG_MAPS)).toBe(`HTTP 500: cannot list configmaps: ${SHOWN}`)
  expect(await failed(PODS)).toBe(`HTTP 500: cannot watch pods: ${SHOWN}`)
  for (const stop of heal) stop()
  await fleet.remove('repeats')
})

test.each([
  ['with control characters', { gitVersion: 'v1.33.1\u001b[2J' }, 'v1.33.1?[2J'],
  ['of any length', { gitVersion: 'v'.repeat(1000) }, 'v'.repeat(64)],
])('a version %s is shown as a text', async (_what, document, version) => {
  const heal = member.answerWhenever({ kind: 'version' }, (exchange) =>
    send(exchange, 200, document),
  )
  await register('version')
  await fleet.ready('version')
  expect((await fleet.get('version')).status?.version).toBe(version)
  heal()
  await fleet.remove('version')
})

test('objects that cannot be mirrored are named in a text of measure', async () => {
  const named = (name: string) => ({ metadata: { name, namespace: 'default' } })
  const items = [named('\u001b[2J'), named('x'.repeat(10_000))]
  const heal = member.answerWhenever({ of: CONFIG_MAPS, kind: 'list' }, (exchange) =>
    send(exchange, 200, { metadata: { resourceVersion: '1' }, items }),
  )
  await register('refused')
  await until(
    async () => (await fleet.syncCondition('refused', CONFIG_MAPS))?.reason === 'ObjectsRefused',
  )
  const message = (await fleet.syncCondition('refused', CONFIG_MAPS))?.message
  expect(message).toMatch(
    /^2 objects are not mirrored: default\/\?\[2J: \?\[2J has no metadata.uid/,
  )
  expect(message?.length).toBeLessThan(600)
  heal()
  await fleet.remove('refused')
})

test.each([
  ['with a NUL', '1\u0000'],
  ['of any length', '9'.repeat(2_000)],
])('a list at a resourceVersion %s is an error of its type', async (_what, resourceVersion) => {
  const heal = member.answerWhenever({ of: CONFIG_MAPS, kind: 'list' }, (exchange) =>
    send(exchange, 200, { metadata: { resourceVersion }, items: [] }),
  )
  await register('odd-version')
  await until(
    async () => (await fleet.syncCondition('odd-version', CONFIG_MAPS))?.status === 'Error',
  )
  await expect
    .poll(() => fleet.syncCondition('odd-version', CONFIG_MAPS))
    .toMatchObject({
      reason: 'InvalidAnswer',
      message: 'cannot list configmaps: the resourceVersion is not plain text',
    })
  heal()
  await fleet.remove('odd-version')
})

test('a document of megabytes is no version', async () => {
  const heal = member.answerWhenever({ kind: 'version' }, (exchange) =>
    send(exchange, 200, { gitVersion: 'v1', more: 'x'.repeat(100_000) }),
  )
  await register('large-version')
  const healthy = () => fleet.condition('large-version', 'ClusterHealthy')
  await until(async () => (await healthy())?.status === 'False')
  expect(await healthy()).toMatchObject({ message: 'no Kubernetes API server answers there' })
  heal()
  await fleet.remove('large-version')
})

test('more types than any cluster has are not taken', async () => {
  const thing = { name: 'things', kind: 'Thing', namespaced: true, verbs: ['list'] }
  const resources = Array.from({ length: 20_001 }, () => thing)
  const heal = member.answerWhenever({ kind: 'discovery' }, (exchange) =>
    send(exchange, 200, { versions: ['v1'], groups: [], resources }),
  )
  await register('many-types')
  const running = () => fleet.condition('many-types', 'SynchroRunning')
  await until(async () => (await running())?.message.startsWith('the answer') === true)
  expect((await running())?.message).toMatch(/more than 20000 types: cannot discover types$/)
  heal()
  await fleet.ready('many-types')
  await fleet.remove('many-types')
})

test.each([
  ['3', 3],
  ['99999999999', 300],
  ['Infinity', 300],
  ['-1', undefined],
  ['tomorrow', undefined],
])('asked to come back after %s, we do so in time', (retryAfter, seconds) => {
  const body = Buffer.alloc(0)
  const error = answerError({ statusCode: 429, retryAfter, body, asked: 'list pods' })
  expect(error.retryAfterSeconds).toBe(seconds)
})
