/** What is told of work that waits, is done, and fails. */
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { WorkQueues } from '../../src/sync/work-queue.ts'
import { ManualClock } from '../support/manual-clock.ts'

const NAME = 'pediacluster_status'

function newQueue() {
  const registry = new Registry()
  const clock = new ManualClock()
  const queue = new WorkQueues(registry, clock).named(NAME)
  const value = async (metric: string) => {
    const lines = (await registry.metrics()).split('\n')
    const start = `workqueue_${metric}{name="${NAME}"} `
    return Number(lines.find((line) => line.startsWith(start))?.slice(start.length) ?? 0)
  }
  return { queue, clock, value }
}

test('what is added twice waits once, and has waited since the first time', async () => {
  const { queue, clock, value } = newQueue()
  queue.added('dot-01')
  await clock.advance(2_000)
  queue.added('dot-01')
  queue.added('dot-02')
  expect(await value('depth')).toBe(2)
  expect(await value('adds_total')).toBe(2)
  queue.begun('dot-01')('done')
  expect(await value('depth')).toBe(1)
  expect(await value('queue_duration_seconds_sum')).toBe(2)
  expect(await value('work_duration_seconds_count')).toBe(1)
})

test('what takes long is told before it ends', async () => {
  const { queue, clock, value } = newQueue()
  for (const item of ['dot-01', 'dot-02']) queue.added(item)
  const first = queue.begun('dot-01')
  await clock.advance(3_000)
  const second = queue.begun('dot-02')
  await clock.advance(1_000)
  expect(await value('unfinished_work_seconds')).toBe(5)
  expect(await value('longest_running_processor_seconds')).toBe(4)
  first('failed')
  second('done')
  expect(await value('longest_running_processor_seconds')).toBe(0)
  expect(await value('retries_total')).toBe(1)
  expect(await value('work_duration_seconds_sum')).toBe(5)
})

test('what comes while it is worked on waits for the next time', async () => {
  const { queue, value } = newQueue()
  queue.added()
  const ended = queue.begun()
  queue.added()
  ended('done')
  expect(await value('depth')).toBe(1)
  queue.forget()
  expect(await value('depth')).toBe(0)
})

test('looking without a reason is no work', async () => {
  const { queue, value } = newQueue()
  queue.begun('dot-01')('done')
  expect(await value('work_duration_seconds_count')).toBe(0)
})
