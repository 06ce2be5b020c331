import { describe, expect, test } from 'vitest'
import { FIVE_MINUTES_AGO, rowOf } from './print.ts'

type Fields = Record<string, unknown>
const AN_HOUR_AGO = '2026-01-01T23:00:00Z'

const situations: ReadonlyArray<[string, Fields, Fields]> = [
  [
    'nothing known',
    {},
    { 'Last Seen': '<unknown>', 'First Seen': '<unknown>', Count: 1, Object: '', Source: '' },
  ],
  [
    'core: times',
    { firstTimestamp: AN_HOUR_AGO, lastTimestamp: FIVE_MINUTES_AGO, count: 7 },
    { 'Last Seen': '5m', 'First Seen': '60m', Count: 7 },
  ],
  [
    'core: no last time',
    { firstTimestamp: AN_HOUR_AGO, lastTimestamp: null },
    { 'Last Seen': '60m' },
  ],
  [
    'event time alone',
    { firstTimestamp: null, eventTime: '2026-01-01T23:55:00.123456Z' },
    { 'Last Seen': '4m59s', 'First Seen': '4m59s' },
  ],
  [
    'a series outweighs all',
    {
      firstTimestamp: AN_HOUR_AGO,
      lastTimestamp: AN_HOUR_AGO,
      count: 1,
      series: { count: 9, lastObservedTime: '2026-01-01T23:55:00.000000Z' },
    },
    { 'Last Seen': '5m', 'First Seen': '60m', Count: 9 },
  ],
  [
    'core: object',
    { involvedObject: { kind: 'Pod', name: 'web-0', fieldPath: 'spec.containers{a}' } },
    { Object: 'pod/web-0', Subobject: 'spec.containers{a}' },
  ],
  ['object without a name', { involvedObject: { kind: 'Node' } }, { Object: 'node' }],
  ['core: source', { source: { component: 'kubelet', host: 'n1' } }, { Source: 'kubelet, n1' }],
  ['source without a host', { source: { component: 'scheduler' } }, { Source: 'scheduler' }],
  [
    'core: reporter',
    { reportingComponent: 'c', reportingInstance: 'i', source: {} },
    { Source: 'c, i' },
  ],
  ['message with space around it', { message: ' a\nb\n' }, { Message: 'a\nb' }],
  [
    'events.k8s.io: its own names',
    {
      regarding: { kind: 'Pod', name: 'web-0' },
      note: 'text',
      deprecatedCount: 3,
      deprecatedFirstTimestamp: AN_HOUR_AGO,
      deprecatedLastTimestamp: FIVE_MINUTES_AGO,
      deprecatedSource: { component: 'kubelet' },
    },
    {
      Object: 'pod/web-0',
      Message: 'text',
      Count: 3,
      'First Seen': '60m',
      'Last Seen': '5m',
      Source: 'kubelet',
    },
  ],
  [
    'events.k8s.io: reporter',
    { reportingController: 'c', reportingInstance: 'i' },
    { Source: 'c, i' },
  ],
]

describe.each(['events', 'events.events.k8s.io'])('%s', (resource) => {
  test.each(situations)('%s', (_, object, row) => {
    expect(rowOf(resource, object)).toMatchObject(row)
  })
})
