/** A custom resource changes a printed column: `my-db-01` is ready for half of each minute. */
import type { Happening } from '../event.ts'
import { MINUTE_SECONDS, timeAt, uidOf } from '../placed.ts'
import { eventsUntil, type Life, momentAt } from './cycle.ts'

export const SQL_CLAIMS = { group: 'devopstoolkitseries.com', resource: 'sqlclaims' }
const NAME = 'my-db-01'
const READY = 30

export const claim: Life = (setting, now) => {
  const moment = momentAt(now)
  const ready = moment.second >= READY
  const since = moment.cycle * MINUTE_SECONDS + (ready ? READY : 0)
  const condition = (type: string, is: boolean, at: number) => ({
    lastTransitionTime: timeAt(setting, at),
    reason: type === 'Synced' ? 'ReconcileSuccess' : is ? 'Available' : 'Creating',
    status: is ? 'True' : 'False',
    type,
  })
  const created = -23 * MINUTE_SECONDS
  return [
    {
      of: SQL_CLAIMS,
      object: {
        apiVersion: 'devopstoolkitseries.com/v1alpha1',
        kind: 'SQLClaim',
        metadata: {
          creationTimestamp: timeAt(setting, created),
          generation: 1,
          name: NAME,
          namespace: 'a-team',
          uid: uidOf(setting, 'SQLClaim', `a-team/${NAME}`),
        },
        spec: {
          id: NAME,
          parameters: { size: 'small', version: '13' },
          writeConnectionSecretToRef: { name: NAME },
        },
        status: {
          conditions: [condition('Synced', true, created), condition('Ready', ready, since)],
        },
      },
    },
    ...eventsUntil(setting, moment, happenings),
  ]
}

function happenings(cycle: number): Happening[] {
  return [
    {
      at: cycle * MINUTE_SECONDS + READY,
      about: {
        kind: 'SQLClaim',
        apiVersion: 'devopstoolkitseries.com/v1alpha1',
        namespace: 'a-team',
        name: NAME,
      },
      type: 'Normal',
      reason: 'BindCompositeResource',
      message: 'Successfully bound composite resource',
      component: 'offered/compositeresourcedefinition.apiextensions.crossplane.io',
    },
  ]
}
