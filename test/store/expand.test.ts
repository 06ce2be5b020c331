/**
 * The release before works on the schema of this one: each migration only adds. What stood there
 * stays as it was, and what is new can be left out by statements that do not know it.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const names = readdirSync(MIGRATIONS)
  .filter((name) => name.endsWith('.sql'))
  .sort()

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly required: boolean
}

interface Schema {
  readonly columns: readonly Column[]
  readonly functions: readonly string[]
  readonly constraints: readonly string[]
}

let database: TestDatabase
let directory: string
/** The schema after each migration. */
const levels: Schema[] = []

beforeAll(async () => {
  database = await testDatabase({ empty: true })
  directory = mkdtempSync(join(tmpdir(), 'fleetglass-levels-'))
  for (const name of names) {
    cpSync(join(MIGRATIONS, name), join(directory, name))
    await migrate(database.store, directory)
    levels.push(await readSchema())
  }
})
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await database.drop()
})

async function readSchema(): Promise<Schema> {
  const { pool } = database.store
  const columns = await pool.query<Column>(
    `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
       a.attnotnull and not a.atthasdef and a.attidentity = '' as required
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'c')
     and a.attnum > 0 and not a.attisdropped order by 1, 2`,
  )
  const functions = await pool.query<{ text: string }>(
    `select p.oid::regprocedure || ' -> ' || p.prorettype::regtype as text from pg_proc p
     where p.pronamespace = 'public'::regnamespace and not exists (
       select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`,
  )
  const constraints = await pool.query<{ text: string }>(
    `select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as text from pg_constraint
     where connamespace = 'public'::regnamespace and contype in ('u', 'c', 'f', 'p') order by 1`,
  )
  const texts = (rows: readonly { text: string }[]) => rows.map(({ text }) => text)
  return {
    columns: columns.rows,
    functions: texts(functions.rows),
    constraints: texts(constraints.rows),
  }
}

const isBreaking = (name: string) =>
  readFileSync(join(MIGRATIONS, name), 'utf8').startsWith('-- breaking:')
const steps = names.slice(1).flatMap((name, i) => (isBreaking(name) ? [] : [{ name, i }]))

test.each(steps)('$name only adds', ({ i }) => {
  const [before, after] = [levels[i]!, levels[i + 1]!]
  expect(after.columns).toEqual(expect.arrayContaining([...before.columns]))
  expect(after.functions).toEqual(expect.arrayContaining([...before.functions]))
  const tables = new Set(before.columns.map(({ table }) => table))
  const isOld = ({ table, column }: Column) =>
    before.columns.some((one) => one.table === table && one.column === column)
  const demanded = after.columns.filter((one) => tables.has(one.table) && !isOld(one))
  expect(demanded.filter(({ required }) => required)).toEqual([])
  const stricter = after.constraints.filter(
    (text) => !before.constraints.includes(text) && tables.has(text.split(' ')[0]!),
  )
  expect(stricter).toEqual([])
})
