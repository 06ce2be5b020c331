/** Two real `fleetglass syncer` processes on one database: killed, or stopped in the middle and woken. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'

const PROGRAM = join(import.meta.dirname, '../../src/main.ts')

let database: TestDatabase
let member: MemberCluster
let folder: string
let children: ChildProcess[]
/** Their logs. */
let said = ''

beforeEach(async () => {
  database = await testDatabase()
  member = await startMemberCluster({ bookmarkSeconds: 3600 })
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-syncers-'))
  children = []
  const key = randomBytes(32)
  writeFileSync(join(folder, 'key'), key.toString('base64'), { mode: 0o600 })
  const registrations = createRegistrations({
    ...{ store: database.store, keyring: createKeyring(key), clock: systemClock },
  })
  const object = {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'PediaCluster',
    metadata: { name: 'dot-01' },
    spec: {
      apiserver: member.url,
      syncResources: [{ group: '', resources: ['configmaps'] }],
    },
  }
  const pinned = {
    ...object,
    metadata: { name: 'pinned' },
    spec: { ...object.spec, shardingName: 'east' },
  }
  for (const one of [object, pinned]) {
    await registrations.create({
      kind: kindOfResource('cluster.clusterpedia.io', 'pediaclusters'),
      body: { text: JSON.stringify(one), format: 'json' },
      options: { fieldManager: 'test' },
    })
  }
  await registrations.close()
})

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await member.stop()
  await database.drop()
  rmSync(folder, { recursive: true })
})

function startSyncer(variables: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, 'syncer'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      FLEETGLASS_DATABASE_URL: database.url,
      FLEETGLASS_ENCRYPTION_KEY_FILE: join(folder, 'key'),
      ...variables,
    },
  })
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  children.push(child)
  return child
}

const query = async <T>(text: string) => (await database.store.pool.query(text)).rows as T[]
const put = (name: string, value = '') =>
  member.put(CONFIG_MAPS, { metadata: { name, namespace: 'default' }, data: { value } })
const rows = async () =>
  (await query<{ name: string }>('select name from object order by name')).map(({ name }) => name)
const holder = async () =>
  (
    await query<{ holder: string }>(
      `select holder from cluster_lease l join cluster c on c.id = l.cluster_id where c.name = 'dot-01'`,
    )
  )[0]?.holder ?? ''
const holds = async (child: ChildProcess) => (await holder()).includes(`/${child.pid}/`)

/** Of this database only: tests of other files wait for locks on the same server. */
const WAITING = `from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`

test('kill -9 moves the cluster when its lease ends, which is soon', async () => {
  put('one')
  const first = startSyncer()
  await until(async () => (await rows()).join() === 'one')
  startSyncer()
  first.kill('SIGKILL')
  const [left] = await query<{ seconds: number }>(
    `select extract(epoch from max(expires_at) - clock_timestamp())::float8 as seconds
     from cluster_lease`,
  )
  expect(left?.seconds).toBeLessThan(16)
  put('two')
  await until(async () => !(await holds(first)))
  await until(async () => (await rows()).join() === 'one,two')
})

test('one that slept through its lease in the middle of a batch writes nothing when it wakes', async () => {
  put('one')
  const first = startSyncer()
  await until(async () => (await rows()).join() === 'one')
  // Its next batch waits for a lock in the middle of its transaction; there it is stopped.
  const blocker = await database.store.pool.connect()
  await blocker.query('begin; lock table change in access exclusive mode')
  put('two')
  await until(async () => (await query(`select 1 ${WAITING}`)).length > 0)
  first.kill('SIGSTOP')
  // The server ends what its stopped client cannot: as a broken network would, after a while.
  await blocker.query(`select pg_terminate_backend(pid) ${WAITING}`)
  await blocker.query('commit')
  blocker.release()
  const second = startSyncer()
  await until(() => holds(second))
  put('three')
  await until(async () => (await rows()).join() === 'one,three,two')
  const everything = () =>
    Promise.all([
      query('select * from object order by name'),
      query('select seq, op, name from change order by seq'),
      query('select * from cluster order by id'),
      query('select * from cluster_resource order by cluster_id, type_id'),
      query(`select name, object from registration order by name`),
    ])
  // All that the second has to say, it has said.
  const ready = `select 1 from cluster c join registration r on r.uid = c.registration_uid
    where c.version is not null and r.object like '%"reason":"Ready"%'`
  await until(async () => (await query(ready)).length > 0)
  const before = await everything()
  const [, log] = before
  first.kill('SIGCONT')
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  expect(await everything()).toEqual(before)
  expect(await holds(second)).toBe(true)
  const names = log.map((entry) => (entry as { name: string }).name)
  expect(names.toSorted()).toEqual(['one', 'three', 'two'])
})

test('a syncer serves its metrics, when it is told where', async () => {
  put('one')
  startSyncer({ FLEETGLASS_METRICS_LISTEN: '127.0.0.1:0', FLEETGLASS_LOG_LEVEL: 'info' })
  await until(() => /"port":\d+\D/.test(said))
  const [, port] = /"port":(\d+)/.exec(said)!
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const line =
    'fleetglass_sync_relists_total{cluster="dot-01",resource="configmaps",cause="first"} 1'
  await until(async () => (await metrics()).includes(line))
  expect(await metrics()).toContain('process_resident_memory_bytes')
  expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404)
})

test('a pinned cluster is synced by syncers of its name only', async () => {
  put('one')
  const other = startSyncer()
  await until(async () => (await rows()).join() === 'one')
  const pinnedHolder = async () =>
    (
      await query<{ holder: string }>(
        `select holder from cluster_lease l join cluster c on c.id = l.cluster_id where c.name = 'pinned'`,
      )
    )[0]?.holder
  expect(await pinnedHolder()).toBeUndefined()
  const east = startSyncer({ FLEETGLASS_SHARDING_NAME: 'east' })
  await until(async () => (await rows()).join() === 'one,one')
  expect(await pinnedHolder()).toContain(`/${east.pid}/`)
  expect(await holds(other)).toBe(true)
})
