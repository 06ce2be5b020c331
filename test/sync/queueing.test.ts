/** What waits, for how long, and how much of it: gates, budgets, backoff and the queue of changes. */
import { describe, expect, test } from 'vitest'
import type { ObjectChange } from '../../src/store/object-row.ts'
import { Backoff } from '../../src/sync/backoff.ts'
import { type BudgetShare, ByteBudget } from '../../src/sync/byte-budget.ts'
import { ChangeQueue, type QueueBatch } from '../../src/sync/change-queue.ts'
import { FairGate } from '../../src/sync/fair-gate.ts'
import { Gate } from '../../src/sync/gate.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

describe('a gate', () => {
  test('lets so many in, and the light ones first', async () => {
    const gate = new Gate(2)
    const order: string[] = []
    const releases: Array<() => void> = []
    const enter = (name: string, weight: number) =>
      gate.run(
        () => {
          order.push(name)
          return new Promise<void>((resolve) => releases.push(resolve))
        },
        { weight },
      )
    const all = [
      enter('a', 9),
      enter('b', 9),
      enter('heavy', 3),
      enter('light', 0),
      enter('light too', 0),
    ]
    for (let i = 0; i < 5; i++) {
      await until(() => releases.length > i)
      if (i === 1) expect(order).toEqual(['a', 'b'])
      releases[i]!()
    }
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'light', 'light too', 'heavy'])
  })

  test('who gives up waiting takes no place', async () => {
    const gate = new Gate(1)
    const inside = Promise.withResolvers<void>()
    const first = gate.run(() => inside.promise)
    const controller = new AbortController()
    const second = gate.run(async () => 'in', { signal: controller.signal })
    controller.abort(new Error('no time'))
    await expect(second).rejects.toThrow('no time')
    inside.resolve()
    await first
    expect(await gate.run(async () => 'third')).toBe('third')
  })

  test('work without an end keeps others out for so long only, and gives its place back once', async () => {
    const gate = new Gate(1, 20)
    const endless = Promise.withResolvers<void>()
    const first = gate.run(() => endless.promise)
    expect(await gate.run(async () => 'second')).toBe('second')
    const inside = Promise.withResolvers<void>()
    const third = gate.run(() => inside.promise)
    endless.resolve()
    await first
    let entered = false
    const fourth = gate.run(async () => {
      entered = true
    })
    await Promise.resolve()
    expect(entered).toBe(false)
    inside.resolve()
    await Promise.all([third, fourth])
  })

  test('a failure inside leaves the place free', async () => {
    const gate = new Gate(1)
    await expect(gate.run(async () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(await gate.run(async () => 1)).toBe(1)
  })
})

describe('a gate that is fair to groups', () => {
  /** Work that goes on until it is told to end, by its name. */
  function works() {
    const ends = new Map<string, () => void>()
    const started: string[] = []
    const work = (name: string) => () =>
      new Promise<void>((resolve) => {
        started.push(name)
        ends.set(name, resolve)
      })
    const end = async (name: string) => {
      ends.get(name)?.()
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return { started, work, end }
  }

  test('has one of each inside, and lets the others in by turns', async () => {
    const gate = new FairGate(2)
    const { started, work, end } = works()
    const all = [
      ...['a1', 'a2', 'a3'].map((name) => gate.run(1, work(name), NEVER)),
      gate.run(2, work('b1'), NEVER),
      gate.run(3, work('c1'), NEVER),
      gate.run(2, work('b2'), NEVER),
    ]
    await end('')
    expect(started).toEqual(['a1', 'b1'])
    await end('b1')
    // Not a2: a1 is still inside.
    expect(started).toEqual(['a1', 'b1', 'c1'])
    await end('a1')
    expect(started.at(-1)).toBe('a2')
    for (const name of ['c1', 'a2', 'b2', 'a3']) await end(name)
    await Promise.all(all)
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('who gives up waiting takes no place, and a failure leaves it free', async () => {
    const gate = new FairGate(1)
    const { started, work, end } = works()
    const first = gate.run(1, work('a1'), NEVER)
    const controller = new AbortController()
    const gone = gate.run(1, work('a2'), controller.signal)
    const failing = gate.run(2, () => Promise.reject(new Error('broken')), NEVER)
    const last = gate.run(1, work('a3'), NEVER)
    controller.abort(new Error('stopped'))
    await expect(gone).rejects.toThrow('stopped')
    const failed = expect(failing).rejects.toThrow('broken')
    await end('a1')
    await end('a3')
    await failed
    await Promise.all([first, last])
    await gate.run(3, async () => undefined, NEVER)
    expect(started).toEqual(['a1', 'a3'])
  })
})

describe('a byte budget', () => {
  test('makes the next wait until there is room, in order', async () => {
    const budget = new ByteBudget(100)
    const share = budget.shareOf('a')
    await share.take(80, NEVER)
    const order: number[] = []
    const waiting = [50, 10].map(async (bytes) => {
      await share.take(bytes, NEVER)
      order.push(bytes)
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(order).toEqual([])
    share.give(80)
    await Promise.all(waiting)
    expect(order).toEqual([50, 10])
    expect(budget.usedBytes).toBe(60)
  })

  test('gives what becomes free to the cluster that holds least', async () => {
    const budget = new ByteBudget(100)
    const [flood, calm] = [budget.shareOf('flood'), budget.shareOf('calm')]
    for (let i = 0; i < 10; i++) await flood.take(10, NEVER)
    const order: string[] = []
    const take = async (share: BudgetShare, name: string) => {
      await share.take(10, NEVER)
      order.push(name)
    }
    const waiting = [take(flood, 'flood'), take(flood, 'flood'), take(calm, 'calm')]
    flood.give(10)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(order).toEqual(['calm'])
    flood.give(20)
    await Promise.all(waiting)
    expect(budget.usedBytes).toBe(100)
  })

  test('lets in alone what is larger than all of it', async () => {
    const share = new ByteBudget(100).shareOf('a')
    await share.take(1000, NEVER)
    const next = share.take(1, NEVER)
    share.give(1000)
    await next
  })

  test('who gives up waiting lets the next in', async () => {
    const share = new ByteBudget(100).shareOf('a')
    await share.take(90, NEVER)
    const controller = new AbortController()
    const large = share.take(50, controller.signal)
    const small = share.take(5, NEVER)
    controller.abort(new Error('stopped'))
    await expect(large).rejects.toThrow('stopped')
    await small
  })
})

test('backoff doubles up to its most, with half left to chance', () => {
  const backoff = new Backoff({ firstMilliseconds: 100, mostMilliseconds: 1000, random: () => 0.5 })
  expect([1, 2, 3, 4, 5, 6].map(() => backoff.next())).toEqual([75, 150, 300, 600, 750, 750])
  backoff.reset()
  expect(backoff.next()).toBe(75)
})

describe('a queue of changes', () => {
  const change = (name: string): ObjectChange => ({ op: 'delete', key: { namespace: '', name } })
  const at = (resourceVersion: string) => ({ resourceVersion, controlPlaneUid: 'u' })
  const namesOf = ({ changes }: QueueBatch) =>
    changes.map((one) => (one.op === 'delete' ? one.key.name : '')).join()

  function queueOf(
    write: (batch: QueueBatch) => Promise<void>,
    given: { rows?: number; budget?: ByteBudget } = {},
  ) {
    const stopping = new AbortController()
    const queue = new ChangeQueue({
      rows: given.rows ?? 3,
      bytes: 1e9,
      lingerMilliseconds: 5,
      positionMilliseconds: 20,
      budget: (given.budget ?? new ByteBudget(1e9)).shareOf('a'),
      signal: stopping.signal,
      write,
    })
    return { queue, stopping }
  }

  test('writes full batches at once, and the rest when it has waited a little', async () => {
    const batches: string[] = []
    const { queue } = queueOf(async (batch) => void batches.push(namesOf(batch)))
    for (const name of ['a', 'b', 'c', 'd']) await queue.put(change(name))
    await until(() => batches.length === 2)
    expect(batches).toEqual(['a,b,c', 'd'])
  })

  test('a position goes with the changes it covers, and never before them', async () => {
    const written: QueueBatch[] = []
    const { queue } = queueOf(async (batch) => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      written.push(batch)
    })
    for (let i = 1; i <= 20; i++) {
      await queue.put(change(`${i}`))
      queue.advance(at(`${i}`))
    }
    await queue.drain()
    let last = 0
    for (const batch of written) {
      const names = batch.changes.map((one) => (one.op === 'delete' ? Number(one.key.name) : 0))
      last = Math.max(last, ...names)
      if (batch.position) expect(Number(batch.position.resourceVersion)).toBeLessThanOrEqual(last)
    }
    expect(written.findLast(({ position }) => position)?.position).toEqual(at('20'))
    expect(written.flatMap(({ changes }) => changes)).toHaveLength(20)
  })

  test('a full queue makes its producer wait for the database', async () => {
    let written = Promise.withResolvers<void>()
    const { queue } = queueOf(() => written.promise)
    let put = 0
    const producer = (async () => {
      for (; put < 12; put++) await queue.put(change(`${put}`))
    })()
    await new Promise((resolve) => setTimeout(resolve, 20))
    // One batch is being written, one is full.
    expect(put).toBe(5)
    const releasing = setInterval(() => {
      written.resolve()
      written = Promise.withResolvers<void>()
    }, 1)
    await producer
    await queue.drain()
    clearInterval(releasing)
  })

  test('bytes are given back when they are written, also when that fails', async () => {
    const budget = new ByteBudget(1e6)
    const { queue } = queueOf(async () => Promise.reject(new Error('lease lost')), { budget })
    await queue.put(change('a'))
    await expect(queue.drain()).rejects.toThrow('lease lost')
    await expect(queue.put(change('b')).then(() => queue.drain())).rejects.toThrow('lease lost')
    expect(budget.usedBytes).toBeLessThan(1000)
  })

  test('stopped, it writes no more and lets its producer go', async () => {
    let writes = 0
    const { queue, stopping } = queueOf(async () => void writes++)
    await queue.put(change('a'))
    stopping.abort(new Error('stopped'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(writes).toBe(0)
    await expect(queue.put(change('b'))).rejects.toThrow('stopped')
  })

  const STOPS: ReadonlyArray<[situation: string, stop: (stopping: AbortController) => unknown]> = [
    ['after the changes were put', async (stopping) => stopping.abort()],
    ['while one is being put', (stopping) => stopping.abort()],
  ]
  test.each(STOPS)('stopped %s, it gives its room back to all others', async (_, stop) => {
    const budget = new ByteBudget(1e6)
    const { queue, stopping } = queueOf(async () => undefined, { budget })
    await queue.put(change('a'))
    const putting = queue.put(change('b')).catch(() => undefined)
    await stop(stopping)
    await putting
    stopping.abort()
    expect(budget.usedBytes).toBe(0)
  })
})
