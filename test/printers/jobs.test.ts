import { describe, expect, test } from 'vitest'
import { FIVE_MINUTES_AGO, rowOf } from './print.ts'

type Fields = Record<string, unknown>
const conditions = (...types: readonly string[]) => ({
  conditions: types.map((type) => ({ type, status: 'True' })),
})

describe('jobs', () => {
  test.each<[string, Fields, Fields]>([
    ['nothing known', {}, { Status: 'Running', Completions: '0/1', Duration: '' }],
    ['complete', { status: conditions('Suspended', 'Complete') }, { Status: 'Complete' }],
    ['failed', { status: conditions('FailureTarget', 'Failed') }, { Status: 'Failed' }],
    ['failing', { status: conditions('FailureTarget') }, { Status: 'FailureTarget' }],
    [
      'about to be complete',
      { status: conditions('SuccessCriteriaMet') },
      { Status: 'SuccessCriteriaMet' },
    ],
    [
      'suspended',
      { status: conditions('SuccessCriteriaMet', 'Suspended') },
      { Status: 'Suspended' },
    ],
    [
      'resumed: the condition is false',
      { status: { conditions: [{ type: 'Suspended', status: 'False' }] } },
      { Status: 'Running' },
    ],
    [
      'being deleted',
      { metadata: { deletionTimestamp: FIVE_MINUTES_AGO }, status: conditions('Suspended') },
      { Status: 'Terminating' },
    ],
    [
      'complete, being deleted',
      { metadata: { deletionTimestamp: FIVE_MINUTES_AGO }, status: conditions('Complete') },
      { Status: 'Complete' },
    ],
    ['completions', { spec: { completions: 5 }, status: { succeeded: 2 } }, { Completions: '2/5' }],
    [
      'work queue',
      { spec: { parallelism: 3 }, status: { succeeded: 2 } },
      { Completions: '2/1 of 3' },
    ],
    ['one at a time', { spec: { parallelism: 1 } }, { Completions: '0/1' }],
    ['running', { status: { startTime: FIVE_MINUTES_AGO } }, { Duration: '5m' }],
    [
      'ended: the duration stands still',
      { status: { startTime: '2020-01-01T00:00:00Z', completionTime: '2020-01-01T00:01:30Z' } },
      { Duration: '90s' },
    ],
  ])('%s', (_, object, row) => {
    expect(rowOf('jobs.batch', object)).toMatchObject(row)
  })
})

describe('cron jobs', () => {
  test.each<[string, Fields, Fields]>([
    [
      'nothing known',
      {},
      {
        Timezone: '<none>',
        Suspend: '<unset>',
        Active: 0,
        'Last Schedule': '<none>',
        Selector: '<none>',
      },
    ],
    ['suspended', { spec: { suspend: true } }, { Suspend: 'True' }],
    ['scheduled', { status: { lastScheduleTime: FIVE_MINUTES_AGO } }, { 'Last Schedule': '5m' }],
    ['two at once', { status: { active: [{}, {}] } }, { Active: 2 }],
    ['time zone', { spec: { timeZone: 'Europe/Berlin' } }, { Timezone: 'Europe/Berlin' }],
    [
      'containers of the job template',
      {
        spec: {
          jobTemplate: {
            spec: { template: { spec: { containers: [{ name: 'a', image: 'i' }] } } },
          },
        },
      },
      { Containers: 'a', Images: 'i' },
    ],
  ])('%s', (_, object, row) => {
    expect(rowOf('cronjobs.batch', object)).toMatchObject(row)
  })
})
