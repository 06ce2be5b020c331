/** A watch ends with the rights that it began with. */
import { expect, test } from 'vitest'
import { ANONYMOUS, type Identity } from '../../src/apiserver/identity.ts'
import { rightsChange } from '../../src/apiserver/registration/rights-change.ts'
import { StatusError } from '../../src/kube/status-error.ts'
import { createLogger } from '../../src/log.ts'
import { ManualClock } from '../support/manual-clock.ts'

const JANE: Identity = { user: 'jane', groups: ['system:authenticated'] }

/** A watch of Jane's, in which time passes as the test says. */
function watching() {
  const clock = new ManualClock('2026-12-01T12:00:00Z')
  const state = {
    rules: ['a'],
    identifyAgain: async (): Promise<Identity> => JANE,
    ended: false,
  }
  const stop = new AbortController()
  const request = {
    ...{ identity: JANE, log: createLogger('silent') as never },
    identifyAgain: () => state.identifyAgain(),
  }
  const change = rightsChange({ rightsOf: () => state.rules, clock }, request, stop.signal)
  const over = change.then(() => {
    state.ended = true
  })
  const pass = async () => {
    await clock.advance(5_000)
    await new Promise(setImmediate)
  }
  return { state, stop, over, pass }
}

test.each([
  ['other rules', { rules: ['a', 'b'] }],
  ['no rules', { rules: [] }],
  ['other groups', { identifyAgain: async () => ({ ...JANE, groups: [] }) }],
  ['a token that stands for nobody', { identifyAgain: async () => ANONYMOUS }],
  [
    'a token that is refused',
    {
      identifyAgain: async () => {
        throw new StatusError('Unauthorized', 'Unauthorized')
      },
    },
  ],
])('%s end it', async (_, change) => {
  const { state, over, pass } = watching()
  await pass()
  expect(state.ended).toBe(false)
  Object.assign(state, change)
  await pass()
  await over
  expect(state.ended).toBe(true)
})

test('a database that does not answer ends none; the watch itself does', async () => {
  const { state, stop, over, pass } = watching()
  state.identifyAgain = async () => {
    throw new Error('the database is away')
  }
  await pass()
  expect(state.ended).toBe(false)
  stop.abort()
  await over
})
