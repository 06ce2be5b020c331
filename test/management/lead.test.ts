/** Who leads: one at a time, the next one in time, nobody without the API server. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { accessFromKubeconfigFile } from '../../src/management/access.ts'
import { createManagementClient, type ManagementClient } from '../../src/management/client.ts'
import { type Candidate, type Leadership, stand } from '../../src/management/lead.ts'
import {
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`

let cluster: ManagementCluster
let client: ManagementClient
let lease = 0
const candidates: Candidate[] = []

beforeAll(async () => {
  cluster = await startManagementCluster()
  client = createManagementClient(accessFromKubeconfigFile(cluster.kubeconfig), {
    userAgent: 'fleetglass/test',
  })
})

afterEach(async () => {
  await Promise.all(candidates.splice(0).map((candidate) => candidate.stop()))
  lease++
})

afterAll(async () => {
  await client.close()
  await cluster.stop()
})

interface Seen {
  readonly clock: ManualClock
  readonly candidate: Candidate
  /** Of the last time it led; undefined while it does not. */
  leadership: Leadership | undefined
}

/** With a clock of its own: what others' clocks say counts for nothing. */
function run(identity: string): Seen {
  const clock = new ManualClock()
  const options = { client, name: `lease-${lease}`, identity, clock, log: createLogger('silent') }
  const candidate = stand(options, async (leadership) => {
    seen.leadership = leadership
    await new Promise((resolve) => leadership.signal.addEventListener('abort', resolve))
    seen.leadership = undefined
  })
  const seen: Seen = { clock, candidate, leadership: undefined }
  candidates.push(candidate)
  return seen
}

interface Record {
  readonly holderIdentity: string
  readonly leaseDurationSeconds: number
  readonly leaseTransitions: number
  readonly acquireTime: string
  readonly renewTime: string
}

async function record(): Promise<Record> {
  const { body } = await client.request('GET', `${LEASES}/lease-${lease}`)
  return (body as { spec: Record }).spec
}

/** Lets time pass in steps of its retries, each of which ends. */
async function pass(seen: Seen, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 2) {
    await seen.clock.asleep()
    await seen.clock.advance(2_000)
    await seen.clock.asleep()
  }
}

test('the first one leads, and renews', async () => {
  const first = run('first')
  await until(() => first.leadership !== undefined)
  expect(first.leadership?.isHeld()).toBe(true)
  const before = await record()
  expect(before).toEqual({
    holderIdentity: 'first',
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
    acquireTime: '2026-12-01T12:00:00.000000Z',
    renewTime: '2026-12-01T12:00:00.000000Z',
  })
  await first.clock.advance(2_000)
  await until(async () => (await record()).renewTime === '2026-12-01T12:00:02.000000Z')
  expect((await record()).acquireTime).toBe(before.acquireTime)
})

test('the second waits while the first renews, and leads when it stops', async () => {
  const first = run('first')
  await until(() => first.leadership !== undefined)
  const second = run('second')
  for (let round = 0; round < 10; round++) {
    await pass(first, 2)
    await pass(second, 2)
  }
  expect(second.leadership).toBeUndefined()
  expect(second.candidate.trouble).toBeUndefined()
  await first.candidate.stop()
  expect((await record()).holderIdentity).toBe('')
  await pass(second, 2)
  await until(() => second.leadership !== undefined)
  expect(await record()).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
})

test('a Lease that nobody renews is taken after its fifteen seconds', async () => {
  const body = {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { name: `lease-${lease}` },
    spec: {
      ...{ holderIdentity: 'dead', leaseDurationSeconds: 15, leaseTransitions: 4 },
      ...{ acquireTime: '2020-01-01T00:00:00.000000Z', renewTime: '2020-01-01T00:00:00.000000Z' },
    },
  }
  await client.request('POST', LEASES, { body })
  const heir = run('heir')
  await until(() => heir.candidate.trouble === undefined)
  await pass(heir, 10)
  expect(heir.leadership).toBeUndefined()
  await pass(heir, 8)
  await until(() => heir.leadership !== undefined)
  expect(await record()).toMatchObject({ holderIdentity: 'heir', leaseTransitions: 5 })
})

test('who cannot renew steps down before another may begin, and leads again later', async () => {
  const first = run('first')
  await until(() => first.leadership !== undefined)
  const { leadership } = first
  await cluster.goDown()
  await pass(first, 8)
  expect(first.leadership).toBe(leadership)
  await until(() => first.candidate.trouble !== undefined)
  await first.clock.advance(4_000)
  expect(leadership?.isHeld()).toBe(false)
  await until(() => leadership?.signal.aborted === true)
  await cluster.comeBack()
  await pass(first, 4)
  await until(() => first.leadership !== undefined)
  expect(first.candidate.trouble).toBeUndefined()
})
