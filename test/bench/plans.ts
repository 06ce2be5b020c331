/** `npm run bench:read -- --plans`: writes plans.txt, how PostgreSQL answers each of the reads. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../src/store/connect.ts'
import { EXPLAINED_READS, explain, type FleetSample } from '../support/explained-reads.ts'

interface SomePod {
  readonly name: string
  readonly namespace: string
  readonly app: string
  readonly node: string
  readonly ownerUid: string
}

export async function writePlans(store: Store, pod: SomePod): Promise<void> {
  const fleet = await sampleOf(store, pod)
  const parts = [`-- Written by \`npm run bench:read -- --plans\`, over ${fleet.total} pods.`]
  for (const read of EXPLAINED_READS) {
    for (const mode of ['custom', 'generic'] as const) {
      const { plan, buffers, removed, returned } = await explain(store, read, { fleet, mode })
      const figures = `${returned} rows, ${buffers} pages, ${removed} rows removed`
      parts.push(`-- ${read.what}: ${mode} plan, ${figures}\n${plan}`)
    }
  }
  writeFileSync(join(import.meta.dirname, 'plans.txt'), `${parts.join('\n\n')}\n`)
}

async function sampleOf(store: Store, pod: SomePod): Promise<FleetSample> {
  const types = await store.pool.query<{ id: number; total: number }>(
    `select t.id, count(*)::int as total from resource_type t join object o on o.type_id = t.id
     where t.api_group = '' and t.resource = 'pods' group by t.id`,
  )
  const clusters = await store.pool.query<{ id: number; name: string }>(
    'select id, name from cluster where removed_at is null order by name',
  )
  const { id, total } = types.rows[0]!
  const { name, namespace, app, node, ownerUid } = pod
  return {
    type: { group: '', resource: 'pods', id },
    scope: clusters.rows.map((row) => ({ ...row, namespaces: 'every-namespace' as const })),
    ...{ total, name, namespace, node, ownerUid, commonPart: 'payments' },
    rareLabel: ['app', app],
    commonLabel: ['app.kubernetes.io/version', '1.3'],
    words: ['registry', 'payments'],
    ...{ since: new Date('2026-03-01'), before: new Date('2026-03-02') },
  }
}
