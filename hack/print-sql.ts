/**
 * Writes src/store/queries.sql: the statements that reads and writes of objects send, so that a
 * change of SQL is seen as SQL. Run by hand; a test compares.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import { parseFieldPath, parseFieldSelector } from '../src/kube/field-selector.ts'
import { parseLabelSelector } from '../src/kube/label-selector.ts'
import { absentFieldsQuery } from '../src/store/absent-fields.ts'
import { PUT_CLUSTER_RESOURCE } from '../src/store/cluster-resources.ts'
import { RECORD_STATE } from '../src/store/clusters.ts'
import type { Store } from '../src/store/connect.ts'
import { groupsQuery } from '../src/store/count-groups.ts'
import { collectionQuery } from '../src/store/list-collection.ts'
import { countQuery, listQuery } from '../src/store/list-query.ts'
import type { ListRequest, ObjectCondition } from '../src/store/list-request.ts'
import { CLOSE_LOG } from '../src/store/put-objects.ts'
import { PUT_REMADE, READ_OLD } from '../src/store/remake-rows.ts'
import type { Database } from '../src/store/schema.ts'
import { STAMP_BATCHES } from '../src/store/sequencer.ts'
import { WRITE_CHANGES } from '../src/store/write-changes.ts'

export const QUERIES_FILE = join(import.meta.dirname, '../src/store/queries.sql')

/** Compiles, and is connected to nothing. */
const db = new Kysely<Database>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})
const store = { db } as Store

/** All of one cluster, and one namespace of another. */
const scope: ListRequest['scope'] = [
  { id: 1, name: 'dot-01', namespaces: 'every-namespace' },
  { id: 2, name: 'dot-02', namespaces: ['shop'] },
]
const pods: ListRequest = {
  type: { id: 3, group: '', resource: 'pods' },
  ...{ scope, conditions: [], order: [], limit: 501 },
  want: { cells: true, metadata: true, body: false },
}
const after = { values: [], cluster: 'dot-01', namespace: 'shop', name: 'web-0' }
const label = (text: string): readonly ObjectCondition[] =>
  parseLabelSelector(text).map((requirement) => ({ on: 'label', requirement }))
const field = (text: string): readonly ObjectCondition[] =>
  parseFieldSelector(text).map((requirement) => ({ on: 'field', requirement }))
const named = (on: 'namespace' | 'name', ...values: string[]): ObjectCondition => ({
  ...{ on, operator: 'In', values },
})
const list = (more: Partial<ListRequest>) => listQuery(store, { ...pods, ...more }).compiled.sql
const byReplicas = { by: parseFieldPath('spec.replicas'), descending: true }

const STATEMENTS: Readonly<Record<string, string>> = {
  'list: everything, from a key on': list({ after }),
  'list: in one namespace': list({ conditions: [named('namespace', 'shop')] }),
  'list: by label': list({ conditions: label('app=web,tier notin (cache)') }),
  'list: by a field of the status': list({ conditions: field('status.phase=Failed') }),
  'list: by a field of the spec': list({ conditions: field('spec.nodeName in (a,b)') }),
  'list: by a field that is not so': list({ conditions: field('status.phase!=Running') }),
  'list: by name': list({ conditions: [named('namespace', 'shop'), named('name', 'web-0')] }),
  'list: by a part of the name': list({ conditions: [{ on: 'fuzzy-name', contains: ['web'] }] }),
  'list: by one of many names': list({
    conditions: [named('name', ...Array.from({ length: 200 }, (_, i) => `web-${i}`))],
  }),
  'list: by words': list({ conditions: [{ on: 'text', words: ['silly', 'demo'] }] }),
  'list: by a field that is more': list({ conditions: field('spec.replicas>3') }),
  'list: by the time of creation': list({ conditions: [{ on: 'created', since: new Date(0) }] }),
  'list: by owner': list({
    conditions: [{ on: 'owner', owners: [{ clusterId: 1, namespace: 'shop', uid: 'u' }] }],
  }),
  'list: newest first': list({ order: [{ by: 'created_at', descending: true }] }),
  'list: oldest first': list({ order: [{ by: 'created_at', descending: false }] }),
  'list: in the order of a field': list({ order: [byReplicas] }),
  count: countQuery(store, { ...pods, conditions: label('app=web') }).sql,
  'count: by groups': groupsQuery(
    { ...pods, by: ['cluster', parseFieldPath('status.phase')] },
    scope,
  ).compile(db).sql,
  collection: collectionQuery(store, { ...pods, scopes: [{ types: [pods.type], scope }] }, scope)
    .compiled.sql,
  'hint: fields that no object seems to have': absentFieldsQuery({
    scopes: [{ types: [pods.type], scope }],
    paths: [parseFieldPath('status.phase')],
  })!.compile(db).sql,
  'write: a batch of changes': WRITE_CHANGES,
  'write: the log of a batch': CLOSE_LOG,
  'write: a type of a cluster': PUT_CLUSTER_RESOURCE,
  'write: the state of a cluster': RECORD_STATE,
  'write: revisions of batches': STAMP_BATCHES,
  'remake: rows of other columns': READ_OLD,
  'remake: rows made again': PUT_REMADE,
}

/** What queries.sql holds. */
export function queriesText(): string {
  const head = '-- Written by hack/print-sql.ts. $1, $2 … are bound values.\n'
  const all = Object.entries(STATEMENTS).map(([name, text]) => `\n-- ${name}\n${text.trim()};\n`)
  return head + all.join('')
}

if (import.meta.main) writeFileSync(QUERIES_FILE, queriesText())
