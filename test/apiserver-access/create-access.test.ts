import { afterEach, describe, expect, test } from 'vitest'
import type { Access } from '../../src/apiserver/access/access.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import type { FleetAccess } from '../../src/kube/fleet-access.ts'
import { createLogger } from '../../src/log.ts'
import { grant } from '../support/document-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

const NOTHING = { clusters: [], columnSets: new Map(), types: new Map() }
const rulesOf = (user: string) => access.rulesOf({ user, groups: [] }).length

const clock = new ManualClock()
let access: Access

afterEach(() => access.close())

/** `read` answers what a reading of the objects gives; the result tells of a change. */
async function start(read: () => Promise<readonly FleetAccess[]>): Promise<() => void> {
  let changed: () => void = () => undefined
  access = await createAccess({
    ...{ catalog: { current: () => NOTHING }, clock, log: createLogger('silent') },
    source: {
      accessObjects: read,
      onAccessChange: (listener) => {
        changed = listener
      },
    },
  })
  return () => changed()
}

describe('rights that change', () => {
  test('count as soon as it is told', async () => {
    let objects = [grant('jane', { clusters: ['a'] })]
    const changed = await start(async () => objects)
    expect(rulesOf('jane')).toBe(1)
    objects = [grant('joe', { clusters: ['a'] })]
    changed()
    await until(() => rulesOf('jane') === 0 && rulesOf('joe') === 1)
  })

  test('while they are being read are read again', async () => {
    let objects = [grant('jane')]
    const changed = await start(async () => {
      const seen = objects
      await new Promise((resolve) => setTimeout(resolve, 10))
      return seen
    })
    for (const user of ['b', 'c', 'd']) {
      objects = [grant(user, { clusters: ['a'] })]
      changed()
      await new Promise((resolve) => setTimeout(resolve, 4))
    }
    await until(() => rulesOf('d') === 1)
  })

  test('count half a minute later when nobody told', async () => {
    let objects = [grant('jane', { clusters: ['a'] })]
    await start(async () => objects)
    objects = []
    await clock.advance(29_000)
    expect(rulesOf('jane')).toBe(1)
    await clock.advance(1_000)
    await until(() => rulesOf('jane') === 0)
  })

  test('that cannot be read leave the last ones in force', async () => {
    const answers: Array<readonly FleetAccess[] | Error> = [
      [grant('jane', { clusters: ['a'] })],
      new Error('down'),
      [],
    ]
    const changed = await start(async () => {
      const answer = answers.shift()
      if (!answer || answer instanceof Error) throw answer
      return answer
    })
    changed()
    await until(() => answers.length === 1)
    expect(rulesOf('jane')).toBe(1)
    changed()
    await until(() => rulesOf('jane') === 0)
  })
})

test('nobody is let in when the rights cannot be read at the start', async () => {
  await start(async () => [])
  const failing = createAccess({
    ...{ catalog: { current: () => NOTHING }, clock, log: createLogger('silent') },
    source: {
      accessObjects: async () => {
        throw new Error('down')
      },
      onAccessChange: () => undefined,
    },
  })
  await expect(failing).rejects.toThrow('down')
})
