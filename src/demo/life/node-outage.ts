/** A node goes NotReady and back: for twenty seconds of each minute its kubelet is not heard of. */
import type { Happening } from '../event.ts'
import { node } from '../node.ts'
import { MINUTE_SECONDS, type Setting } from '../placed.ts'
import { eventsUntil, type Life, momentAt } from './cycle.ts'

const LOST = 25
const BACK = 45

export function nodeOutage(letter: string): Life {
  return (setting, now) => {
    const moment = momentAt(now)
    const base = moment.cycle * MINUTE_SECONDS
    const lost = moment.second >= LOST && moment.second < BACK
    const before = moment.cycle === 0 ? undefined : base - MINUTE_SECONDS + BACK
    const since = moment.second < LOST ? before : base + (lost ? LOST : BACK)
    return [
      node(setting, { letter, ready: lost ? 'Unknown' : 'True', ...(since && { since }) }),
      ...eventsUntil(setting, moment, (cycle) => happenings(setting, letter, cycle)),
    ]
  }
}

function happenings(setting: Setting, letter: string, cycle: number): Happening[] {
  const name = `${setting.cluster}-node-${letter}`
  const told = (at: number, reason: string): Happening => ({
    at: cycle * MINUTE_SECONDS + at,
    about: { kind: 'Node', apiVersion: 'v1', namespace: '', name },
    type: 'Normal',
    reason,
    message: `Node ${name} status is now: ${reason}`,
    component: reason === 'NodeReady' ? 'kubelet' : 'node-controller',
  })
  return [told(LOST, 'NodeNotReady'), told(BACK, 'NodeReady')]
}
