/** What of a status is news, and what becomes of it as an Event. */
import { describe, expect, test } from 'vitest'
import type { Condition, PediaClusterStatus } from '../../src/kube/pedia-cluster.ts'
import { newsIn } from '../../src/management/cluster-events.ts'

const AT = '2026-12-01T12:00:00Z'

function status(
  conditions: Readonly<Record<string, readonly [string, string, string?]>>,
  failing: Readonly<Record<string, string>> = {},
): PediaClusterStatus {
  return {
    conditions: Object.entries(conditions).map(([type, [state, reason, message = '']]) => ({
      ...{ type, reason, message, lastTransitionTime: AT },
      status: state as Condition['status'],
    })),
    syncResources: [
      {
        group: 'apps',
        resources: Object.entries(failing).map(([name, message]) => ({
          ...{ name, kind: 'X', namespaced: true },
          syncConditions: [
            {
              version: 'v1',
              status: 'Error',
              reason: 'Forbidden',
              message,
              lastTransitionTime: AT,
            },
          ],
        })),
      },
    ],
  }
}

const HEALTHY = { ClusterHealthy: ['True', 'Healthy'] } as const
const DOWN = { ClusterHealthy: ['False', 'NotReachable', 'connection refused'] } as const

const told = (before: PediaClusterStatus | undefined, after: PediaClusterStatus) =>
  newsIn(before, after).map(({ type, reason, message }) => `${type} ${reason}: ${message}`)

describe('news', () => {
  test.each<[string, PediaClusterStatus | undefined, PediaClusterStatus, readonly string[]]>([
    ['a start', undefined, status({ ClusterHealthy: ['Unknown', 'Pending', 'not asked yet'] }), []],
    ['health', undefined, status(HEALTHY), []],
    [
      'a cluster that is down',
      status(HEALTHY),
      status(DOWN),
      ['Warning NotReachable: connection refused'],
    ],
    ['one that still is', status(DOWN), status(DOWN), []],
    [
      'the first time that all is well',
      status({ Ready: ['False', 'NotReady'] }),
      status({ Ready: ['True', 'Ready'] }),
      ['Normal Ready: the mirror is complete and current'],
    ],
    [
      'that it still is',
      status({ Ready: ['True', 'Ready'] }),
      status({ Ready: ['True', 'Ready'] }),
      [],
    ],
    [
      'a pause',
      status({ SynchroRunning: ['True', 'Running'] }),
      status({ SynchroRunning: ['False', 'Paused', 'by annotation'] }),
      ['Normal Paused: by annotation'],
    ],
    [
      'resources that fail, the new ones only',
      status({}, { deployments: 'Forbidden: cannot list' }),
      status({}, { deployments: 'Forbidden: cannot list', jobs: 'no' }),
      ['Warning ResourcesNotSynced: jobs.apps: no'],
    ],
    [
      'many resources that fail',
      undefined,
      status({}, { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6', g: '7' }),
      [
        'Warning ResourcesNotSynced: a.apps: 1; b.apps: 2; c.apps: 3; d.apps: 4; e.apps: 5; and 2 more',
      ],
    ],
  ])('%s', (...[, before, after, expected]) => {
    expect(told(before, after)).toEqual(expected)
  })
})
