/** Live clusters over real HTTP, in every way they can fail: one row each, and never a false all-clear. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { memberReader } from '../../src/cli/fleet/member-reader.ts'
import { systemClock } from '../../src/clock.ts'
import { observeLive } from '../../src/fleet/live-source.ts'
import { isRow, type Outcome } from '../../src/fleet/outcome.ts'
import { renderText } from '../../src/fleet/render-text.ts'
import { makeReport } from '../../src/fleet/report.ts'
import { sweep } from '../../src/fleet/sweep.ts'
import { SWEPT, SWEPT_RESOURCES } from '../../src/fleet/swept-resources.ts'
import { credentialsFromKubeconfig } from '../../src/sync/credentials.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../support/resource-types.ts'
import { CRASHING, shortRow } from './cluster.ts'

let member: MemberCluster

beforeEach(async () => {
  member = await startMemberCluster()
})
afterEach(() => member.stop())

function crashing(): void {
  for (const object of CRASHING.deployments!) member.put(DEPLOYMENTS, object)
  for (const object of CRASHING.replicasets!) member.put(REPLICA_SETS, object)
  for (const object of CRASHING.pods!) member.put(PODS, object)
}

interface Asked {
  readonly budgetMilliseconds?: number
  readonly namespace?: string
  readonly path?: string
  readonly of?: MemberCluster
}

async function swept({
  of = member,
  budgetMilliseconds = 10_000,
  path = '',
  namespace,
}: Asked = {}): Promise<Outcome> {
  const kubeconfig = JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: of.url + path } }],
  })
  const access = credentialsFromKubeconfig(kubeconfig, { field: 'kubeconfig', trusted: true })
  const reader = memberReader(access)
  const observe = (signal: AbortSignal) =>
    observeLive({
      ...{ reader, clock: systemClock, budgetMilliseconds, signal },
      ...(namespace !== undefined && { namespace }),
    })
  try {
    const [outcome] = await sweep([{ context: 'c', observe }], { failOn: 'critical', workers: 1 })
    return outcome!
  } finally {
    await reader.close()
  }
}

function short(outcome: Outcome): string {
  return isRow(outcome) ? shortRow(outcome) : outcome.reason
}

const typeOf = (resource: keyof typeof SWEPT) => ({
  group: SWEPT[resource].group as string,
  resource,
})

test('a healthy cluster, read with nothing but get and list', async () => {
  expect(short(await swept())).toBe('pass 0/0/0 0 []')
  const kinds = new Set(member.requests().map(({ kind }) => kind))
  expect([...kinds]).toEqual(['list'])
})

test('a crash loop', async () => {
  crashing()
  expect(short(await swept())).toBe('fail 1/0/0 0 [CrashLoopBackOff]')
})

test('of one namespace, without webhooks', async () => {
  crashing()
  expect(short(await swept({ namespace: 'other' }))).toBe('pass 0/0/0 0 []')
  expect(short(await swept({ namespace: 'default' }))).toBe('fail 1/0/0 0 [CrashLoopBackOff]')
  expect(member.requests({ of: typeOf('validatingwebhookconfigurations') })).toEqual([])
})

describe('a read that is refused is a blind spot, whatever is read', () => {
  test.each(SWEPT_RESOURCES)('%s', async (resource) => {
    crashing()
    member.forbid({ of: typeOf(resource) })
    const outcome = await swept()
    expect(isRow(outcome) && [...outcome.blindSpots]).toEqual([resource])
    expect(isRow(outcome) && outcome.verdict).toBe('inconclusive')
  })
})

describe('half an answer is none', () => {
  test.each([
    ['a server error', () => member.fail({ of: PODS }, { code: 500 })],
    ['rubbish', () => member.answerNext({ of: PODS }, '<html>Gateway</html>')],
    ['half a list', () => member.truncateNext({ of: PODS }, 60)],
    ['a Status in place of a list', () => member.answerNext({ of: PODS }, '{"kind":"Status"}')],
    [
      'an item that is no object',
      () => member.answerNext({ of: PODS }, '{"kind":"PodList","metadata":{},"items":[3]}'),
    ],
    [
      'too many requests, for ever',
      () => member.fail({ of: PODS }, { code: 429, retryAfterSeconds: 0 }),
    ],
    ['a 404 that discovery knows nothing of', () => member.fail({ of: PODS }, { code: 404 })],
  ])('%s', async (_, breakIt) => {
    crashing()
    breakIt()
    const outcome = await swept()
    expect(isRow(outcome) && [...outcome.blindSpots]).toEqual(['pods'])
    expect(short(outcome)).toMatch(/^inconclusive 0/)
  })

  test('a null list is an empty one', async () => {
    member.answerNext({ of: PODS }, '{"kind":"PodList","metadata":{},"items":null}')
    expect(short(await swept())).toBe('pass 0/0/0 0 []')
  })

  test('too many requests for a while are waited out', async () => {
    crashing()
    member.fail({ of: PODS }, { code: 429, retryAfterSeconds: 0, times: 2 })
    expect(short(await swept())).toBe('fail 1/0/0 0 [CrashLoopBackOff]')
  })

  test('a list of several pages, one of which expires', async () => {
    crashing()
    for (let i = 0; i < 600; i++)
      member.put(PODS, {
        metadata: { name: `p-${i}`, namespace: 'default' },
        status: { phase: 'Succeeded' },
      })
    member.expireNextContinue(PODS)
    expect(short(await swept())).toBe('fail 1/0/0 0 [CrashLoopBackOff]')
  })
})

test('what a cluster does not serve is empty, not blind', async () => {
  await member.stop()
  member = await startMemberCluster({ version: 'v1.20.0' })
  const outcome = await swept()
  expect(isRow(outcome) && [...outcome.blindSpots]).toEqual([])
})

describe('nothing at all can be seen', () => {
  test('nobody listens', async () => {
    await member.goDown()
    expect(short(await swept())).toBe('connecting to the cluster')
    await member.comeBack()
  })

  test('everything hangs', async () => {
    member.slowDown({}, { bytes: 1, milliseconds: 60_000 })
    expect(short(await swept({ budgetMilliseconds: 300 }))).toBe('timed out')
  })

  test('everything is refused', async () => {
    member.server.authorize = () => false
    expect(short(await swept())).toBe('connecting to the cluster')
  })

  test('another server answers 404 to everything', async () => {
    expect(short(await swept({ path: '/not-here' }))).toBe('connecting to the cluster')
  })
})

test('E12 a cluster that hangs, one that refuses and one that sends half a list: none is healthy', async () => {
  const [refusing, half] = await Promise.all([startMemberCluster(), startMemberCluster()])
  onTestFinished(() => Promise.all([refusing.stop(), half.stop()]).then(() => undefined))
  member.slowDown({}, { bytes: 1, milliseconds: 60_000 })
  refusing.forbid({ of: PODS })
  half.truncateNext({ of: PODS }, 60)
  const outcomes = await Promise.all([
    swept({ budgetMilliseconds: 1_000 }),
    swept({ of: refusing }),
    swept({ of: half }),
  ])
  const blind = 'inconclusive 0/0/0 1 []'
  expect(outcomes.map(short)).toEqual(['timed out', blind, blind])
  const report = makeReport(outcomes, 'critical')
  expect(report.exitCode).toBe(2)
  expect(renderText(report)).toMatch(/^FLEET {2}3 clusters, 0 failing, 1 unreachable\n/)
})

test('one kind hangs until the budget ends: the rest is judged, that kind is a blind spot', async () => {
  crashing()
  member.slowDown({ of: typeOf('storageclasses') }, { bytes: 1, milliseconds: 60_000 })
  const outcome = await swept({ budgetMilliseconds: 2_000 })
  expect(short(outcome)).toBe('inconclusive 1/0/0 1 [CrashLoopBackOff]')
})
