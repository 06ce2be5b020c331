/**
 * Members, database and syncers are driven at random; after each round everything must be right.
 *
 * A failure prints its seed: `npm run test:chaos -- --seed N` does the same again, as far as the
 * machine's timing allows. `npm run test:chaos -- --minutes 10` goes on for longer.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { round } from './actions.ts'
import { expectTruth } from './check.ts'
import { ChaosFleet } from './fleet.ts'

const minutes = Number(process.env.FLEETGLASS_CHAOS_MINUTES ?? 0.75)
const seed = Number(process.env.FLEETGLASS_CHAOS_SEED ?? Date.now() % 2 ** 31)
const milliseconds = minutes * 60_000

let fleet: ChaosFleet
beforeAll(async () => {
  fleet = await ChaosFleet.start()
})
afterAll(() => fleet.stop())

test(`seed ${seed}: rows and change log are right after every round`, {
  timeout: milliseconds + 180_000,
}, async () => {
  let rounds = 0
  let actions = 0
  const property = fc.asyncProperty(round, async (acts) => {
    const done: string[] = []
    for (const act of acts) {
      done.push(act.name)
      await act.run(fleet)
    }
    await expectTruth(fleet).catch((error: Error) => {
      throw new Error(`${error.message}\n--- after:\n${done.join('\n')}`)
    })
    rounds++
    actions += acts.length
  })
  await fc.assert(property, {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: milliseconds,
    // A round stands on those before it: a shorter one would not be the same.
    endOnFailure: true,
  })
  console.info(`chaos: ${rounds} rounds, ${actions} actions, seed ${seed}`)
  expect(rounds).toBeGreaterThan(0)
})
