/**
 * The reads that test/bench/README.md gives figures of, as the queries that answer them, and how
 * PostgreSQL goes about them.
 */
import { ClusterStages } from '../../src/store/cluster-stages.ts'
import type { Store } from '../../src/store/connect.ts'
import { groupsQuery } from '../../src/store/count-groups.ts'
import { collectionQuery } from '../../src/store/list-collection.ts'
import { countQuery, listQuery } from '../../src/store/list-query.ts'
import type { ListRequest, ObjectCondition, OrderKey } from '../../src/store/list-request.ts'
import type { RawStatement } from '../../src/store/raw-query.ts'

/** What the fleet has, so that conditions find something. */
export interface FleetSample {
  readonly type: ListRequest['type']
  readonly scope: ListRequest['scope']
  readonly total: number
  readonly namespace: string
  readonly name: string
  /** Of a few pods. */
  readonly rareLabel: readonly [key: string, value: string]
  /** Of about a ninth of them. */
  readonly commonLabel: readonly [key: string, value: string]
  readonly commonPart: string
  readonly node: string
  readonly ownerUid: string
  readonly words: readonly string[]
  readonly since: Date
  readonly before: Date
}

export interface ExplainedRead {
  readonly what: string
  readonly ask: (fleet: FleetSample) => Partial<ListRequest>
  readonly how?: 'count' | 'groups' | 'collection'
  /** More than what is returned: each match, to count it; or each key of the index. */
  readonly reads?: 'some-keys' | 'all-keys'
}

const label = (key: string, ...values: string[]): ObjectCondition => ({
  on: 'label',
  requirement: { key, operator: 'In', values },
})
const field = (path: string, operator: 'In' | 'NotIn', ...values: string[]): ObjectCondition => ({
  on: 'field',
  requirement: { path: path.split('.').map((key) => ({ key })), operator, values },
})
const order = (by: OrderKey['by'], descending = false): readonly OrderKey[] => [{ by, descending }]
const oneCluster = ({ scope }: FleetSample) => ({ scope: scope.slice(1, 2) })

export const EXPLAINED_READS: readonly ExplainedRead[] = [
  {
    what: 'one object by name',
    ask: (fleet) => ({
      ...oneCluster(fleet),
      conditions: [
        { on: 'namespace', operator: 'In', values: [fleet.namespace] },
        { on: 'name', operator: 'In', values: [fleet.name] },
      ],
    }),
  },
  { what: '500 of all', ask: () => ({}) },
  {
    what: '500 of one namespace',
    ask: ({ namespace }) => ({
      conditions: [{ on: 'namespace', operator: 'In', values: [namespace] }],
    }),
  },
  { what: '500 by created_at desc', ask: () => ({ order: order('created_at', true) }) },
  { what: '500 by created_at', ask: () => ({ order: order('created_at') }) },
  { what: '500 at nine tenths', ask: ({ total }) => ({ offset: Math.floor(total * 0.9) }) },
  { what: 'common label, 500', ask: (fleet) => ({ conditions: [label(...fleet.commonLabel)] }) },
  { what: 'rare label', ask: (fleet) => ({ conditions: [label(...fleet.rareLabel)] }) },
  {
    what: 'fuzzy name, common',
    ask: ({ commonPart }) => ({ conditions: [{ on: 'fuzzy-name', contains: [commonPart] }] }),
  },
  {
    what: 'fuzzy name, one',
    ask: ({ name }) => ({ conditions: [{ on: 'fuzzy-name', contains: [name.slice(-9)] }] }),
  },
  {
    what: 'fuzzy name, absent',
    ask: () => ({ conditions: [{ on: 'fuzzy-name', contains: ['zzqqx'] }] }),
  },
  {
    what: 'status.phase=Failed, 500',
    ask: () => ({ conditions: [field('status.phase', 'In', 'Failed')] }),
  },
  {
    what: 'status.phase notin (Running), 500',
    ask: () => ({ conditions: [field('status.phase', 'NotIn', 'Running')] }),
  },
  {
    what: 'spec.nodeName of one cluster',
    ask: (fleet) => ({
      ...oneCluster(fleet),
      conditions: [field('spec.nodeName', 'In', fleet.node)],
    }),
  },
  {
    what: 'a field value that is absent',
    ask: () => ({ conditions: [field('spec.schedulerName', 'In', 'nope')] }),
  },
  {
    what: 'created within one day',
    ask: ({ since, before }) => ({ conditions: [{ on: 'created', since, before }] }),
  },
  {
    what: 'remaining count, one label',
    ...{ how: 'count', reads: 'some-keys' },
    ask: (fleet) => ({ conditions: [label(...fleet.commonLabel)] }),
  },
  {
    what: 'owned by one object',
    ask: ({ ownerUid, scope }) => ({
      conditions: [
        {
          on: 'owner',
          owners: scope.map(({ id }) => ({ clusterId: id, namespace: '', uid: ownerUid })),
        },
      ],
    }),
  },
  { what: 'words, 500', ask: ({ words }) => ({ conditions: [{ on: 'text', words }] }) },
  {
    what: '20,000 names',
    reads: 'all-keys',
    ask: ({ name }) => ({
      conditions: [
        { on: 'name', operator: 'In', values: [name, ...Array.from({ length: 20_000 }, String)] },
      ],
    }),
  },
  {
    what: 'a collection by a rare label',
    how: 'collection',
    ask: (fleet) => ({ conditions: [label(...fleet.rareLabel)] }),
  },
  {
    what: 'counts by cluster, of a common label',
    ...{ how: 'groups', reads: 'some-keys' },
    ask: (fleet) => ({ conditions: [label(...fleet.commonLabel)] }),
  },
  {
    what: 'a number that is more, of one cluster',
    ask: (fleet) => ({
      ...oneCluster(fleet),
      conditions: [
        {
          on: 'field',
          requirement: {
            path: [{ key: 'spec' }, { key: 'terminationGracePeriodSeconds' }],
            ...{ operator: 'Gt', value: '1' },
          },
        },
      ],
    }),
  },
]

export interface Explained {
  /** Of all statements that the answer takes, indented as EXPLAIN prints them, without figures. */
  readonly plan: string
  /** Pages of 8 KB that were touched. */
  readonly buffers: number
  readonly removed: number
  readonly returned: number
}

export type PlanMode = 'custom' | 'generic'

/** Runs what the read runs, one statement after another, as it is planned by default settings. */
export async function explain(
  store: Store,
  { ask, how }: ExplainedRead,
  { fleet, mode }: { readonly fleet: FleetSample; readonly mode: PlanMode },
): Promise<Explained> {
  const { type, scope } = fleet
  const want = { cells: true, metadata: true, body: false }
  const request = { type, scope, conditions: [], order: [], limit: 500, want, ...ask(fleet) }
  if (how === 'count') return explainOne(store, countQuery(store, request), mode)
  if (how === 'groups') {
    const query = groupsQuery({ ...request, by: ['cluster'] }, request.scope)
    return explainOne(store, query.compile(store.db), mode)
  }
  if (how === 'collection') {
    const { conditions, order: by, limit } = request
    const collection = { conditions, order: by, limit, want, scopes: [{ types: [type], scope }] }
    return explainOne(store, collectionQuery(store, collection, scope).compiled, mode)
  }
  const stages = new ClusterStages(request)
  const parts: Explained[] = []
  for (let stage = stages.next(); stage; stage = stages.next()) {
    const part = await explainOne(store, listQuery(store, stage).compiled, mode)
    parts.push(part)
    stages.delivered(part.returned)
  }
  const sum = (of: 'buffers' | 'removed' | 'returned') =>
    parts.reduce((all, part) => all + part[of], 0)
  return {
    plan: parts.map(({ plan }) => plan).join('\nthen\n'),
    ...{ buffers: sum('buffers'), removed: sum('removed'), returned: sum('returned') },
  }
}

interface PlanNode {
  readonly [fact: string]: unknown
  readonly Plans?: readonly PlanNode[]
}

async function explainOne(
  store: Store,
  { sql, parameters }: RawStatement,
  mode: PlanMode,
): Promise<Explained> {
  const client = await store.pool.connect()
  try {
    await client.query(`set plan_cache_mode = force_${mode}_plan`)
    await client.query(`prepare explained as ${sql}`)
    const values = parameters.map((value) => client.escapeLiteral(String(value))).join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers, timing off, summary off, format json) execute explained${values && `(${values})`}`,
    )
    const [{ Plan }] = JSON.parse(rows[0]!['QUERY PLAN']) as [{ Plan: PlanNode }]
    return {
      plan: shapeOf(Plan).join('\n'),
      buffers: figure(Plan, 'Shared Hit Blocks') + figure(Plan, 'Shared Read Blocks'),
      removed: removedBelow(Plan),
      returned: figure(Plan, 'Actual Rows'),
    }
  } finally {
    await client.query('deallocate all; reset plan_cache_mode')
    client.release()
  }
}

const figure = (node: PlanNode, of: string) => Number(node[of] ?? 0)

function removedBelow(node: PlanNode): number {
  const here = ['Filter', 'Join Filter', 'Index Recheck'].map((by) =>
    figure(node, `Rows Removed by ${by}`),
  )
  const own = here.reduce((all, each) => all + each, 0) * figure(node, 'Actual Loops')
  return (node.Plans ?? []).reduce((all, child) => all + removedBelow(child), own)
}

/** Equal branches, one for each partition, are one line. */
function shapeOf(node: PlanNode, depth = 0): string[] {
  const on = String(node['Index Name'] ?? node['Relation Name'] ?? node['Function Name'] ?? '')
  // Partitions are numbered, and indexes of partitions are named after them.
  const place = on && ` on ${on.replaceAll(/_\d+/g, '')}`
  const line = `${'  '.repeat(depth)}${node['Node Type']}${place}`
  const below = (node.Plans ?? []).map((child) => shapeOf(child, depth + 1).join('\n'))
  return [line, ...new Set(below)]
}
