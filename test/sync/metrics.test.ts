/** Series come with what is synced, and go with it: a fleet that changes must not fill the memory. */
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { FAILURE_CAUSES } from '../../src/sync/member-error.ts'
import { SyncMetrics } from '../../src/sync/metrics.ts'
import { RELIST_CAUSES } from '../../src/sync/mirror-sink.ts'

const PODS = { group: '', resource: 'pods' }

function seriesOf(text: string, cluster: string): readonly string[] {
  return text.split('\n').filter((line) => line.includes(`cluster="${cluster}"`))
}

test('a type that is no longer followed leaves no series behind', async () => {
  const registry = new Registry()
  const metrics = new SyncMetrics(registry)
  for (const cluster of ['stays', 'goes']) {
    const of = { cluster, type: PODS }
    for (const cause of RELIST_CAUSES) metrics.relisted(of, cause)
    for (const cause of FAILURE_CAUSES) metrics.failed(of, cause)
    metrics.event(of)
    metrics.refused(of)
    metrics.heard(of, 0)
  }
  const before = seriesOf(await registry.metrics(), 'stays')
  metrics.forget({ cluster: 'goes', type: PODS })
  const text = await registry.metrics()
  expect(seriesOf(text, 'goes')).toEqual([])
  expect(seriesOf(text, 'stays')).toEqual(before)
  expect(before.length).toBeGreaterThan(RELIST_CAUSES.length + FAILURE_CAUSES.length)
})

test('a cluster that is no longer followed leaves no series behind', async () => {
  const registry = new Registry()
  const metrics = new SyncMetrics(registry)
  for (const cluster of ['stays', 'goes']) {
    for (const code of ['200', '401']) metrics.asked({ cluster, method: 'GET', code })
    metrics.lagging(cluster, 1)
  }
  metrics.forgetCluster('goes')
  const text = await registry.metrics()
  expect(seriesOf(text, 'goes')).toEqual([])
  expect(seriesOf(text, 'stays')).toHaveLength(3)
})
