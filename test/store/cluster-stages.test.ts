import { describe, expect, test } from 'vitest'
import { ClusterStages } from '../../src/store/cluster-stages.ts'
import type { ListRequest } from '../../src/store/list-request.ts'

const FLEET = ['dot-01', 'dot-02', 'dot-03', 'dot-04', 'dot-05', 'dot-06']

function request(given: Partial<ListRequest>): ListRequest {
  return {
    type: { group: '', resource: 'pods', id: 1 },
    scope: FLEET.map((name, i) => ({ id: i + 1, name, namespaces: 'every-namespace' })),
    conditions: [],
    order: [],
    want: { cells: true, metadata: false, body: false },
    ...given,
  }
}

/** The clusters of each stage and what is still wanted, when so many rows are found in a cluster. */
function stagesOf(given: Partial<ListRequest>, rowsPerCluster: number) {
  const stages = new ClusterStages(request(given))
  const seen: string[] = []
  for (let stage = stages.next(); stage; stage = stages.next()) {
    const names = stage.scope.map(({ name }) => name.slice(-1)).join('')
    seen.push(`${names}:${stage.limit ?? 'all'}${stage.after ? ' after' : ''}`)
    const found = rowsPerCluster * stage.scope.length
    stages.delivered(Math.min(found, stage.limit ?? found))
  }
  return seen
}

const LIMIT = { limit: 100 }
const AFTER = { values: [], cluster: 'dot-03', namespace: 'a', name: 'b' }

describe('a list is read', () => {
  test.each([
    ['whole without a limit', {}, 5, ['123456:all']],
    ['whole with an offset', { ...LIMIT, offset: 5 }, 5, ['123456:100']],
    [
      'whole in another order',
      { ...LIMIT, order: [{ by: 'name', descending: false }] },
      5,
      ['123456:100'],
    ],
    ['from one cluster that has enough', LIMIT, 100, ['1:100']],
    ['from half as many clusters again as seem to be needed', LIMIT, 40, ['1:100', '234:60']],
    ['from all others when the first has nothing', LIMIT, 0, ['1:100', '23456:100']],
    ['from all others when the first has little', LIMIT, 1, ['1:100', '23456:99']],
    ['behind a position', { ...LIMIT, after: AFTER }, 30, ['3:100 after', '456:70']],
    [
      'behind a position in a cluster that is gone',
      { ...LIMIT, after: { ...AFTER, cluster: 'dot-03a' } },
      100,
      ['4:100'],
    ],
    ['not at all behind the last cluster', { ...LIMIT, after: { ...AFTER, cluster: 'x' } }, 9, []],
  ] satisfies Array<[string, Partial<ListRequest>, number, string[]]>)(
    '%s',
    (...[, given, rows, want]) => {
      expect(stagesOf(given, rows)).toEqual(want)
    },
  )

  test('never behind a position of another order', () => {
    const after = { ...AFTER, values: ['x', 'y'] }
    expect(() => new ClusterStages(request({ ...LIMIT, after }))).toThrow(
      'continue key is not valid',
    )
  })
})
