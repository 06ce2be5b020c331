/** What is worked out once for many, for how long, and one after the other. */
import { expect, test } from 'vitest'
import { BriefCache } from '../../src/apiserver/fleet/brief-cache.ts'
import { OneAtATime } from '../../src/apiserver/fleet/one-at-a-time.ts'
import { systemClock } from '../../src/clock.ts'

function cacheAt(start: number, most = 10) {
  const time = { now: start }
  const cache = new BriefCache<string>({ ...systemClock, now: () => time.now }, most)
  let made = 0
  const get = (key: string) => cache.get(key, async () => `${key} ${++made}`)
  return { cache, time, get }
}

test('whoever asks within ten seconds is given the same', async () => {
  const { time, get } = cacheAt(0)
  expect([await get('a'), await get('a'), await get('b')]).toEqual(['a 1', 'a 1', 'b 2'])
  time.now = 9_999
  expect(await get('a')).toBe('a 1')
  time.now = 10_000
  expect(await get('a')).toBe('a 3')
})

test('what is being worked out is waited for', async () => {
  const { get } = cacheAt(0)
  expect(await Promise.all([get('a'), get('a')])).toEqual(['a 1', 'a 1'])
})

test('what fails is worked out again', async () => {
  const { cache, get } = cacheAt(0)
  const failing = cache.get('a', () => Promise.reject(new Error('no database')))
  await expect(failing).rejects.toThrow('no database')
  expect(await get('a')).toBe('a 1')
})

test('the oldest make room', async () => {
  const { cache, get } = cacheAt(0, 2)
  for (const key of ['a', 'b', 'c']) await get(key)
  expect(['a', 'b', 'c'].map((key) => cache.peek(key) !== undefined)).toEqual([false, true, true])
})

test('one at a time, in the order asked, and on after a failure', async () => {
  const turns = new OneAtATime()
  const log: string[] = []
  const work = (name: string, fails = false) =>
    turns.run(async () => {
      log.push(`${name} starts`)
      await new Promise((resolve) => setImmediate(resolve))
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const ended = await Promise.allSettled([work('a'), work('b', true), work('c')])
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
})
