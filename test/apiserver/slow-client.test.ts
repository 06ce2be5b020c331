/**
 * A list of any length to a client of any pace: the server holds little, and no transaction long.
 *
 * The server runs in a process of its own, so that what is measured is its memory alone.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'
import { APPLICATION_NAME } from '../support/server-name.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
const FEW = 1_000
const MANY = 50_000
const BYTES_PER_SECOND = 1024 * 1024
const MEMORY_MOST_BYTES = 64 * 1024 * 1024
/** The server itself ends a transaction that nobody goes on with after 15 s. */
const TRANSACTION_MOST_SECONDS = 12
/** Garbage that V8 has not come to yet is no memory that a list takes: let it come soon. */
const LITTLE_GARBAGE = ['--max-semi-space-size=4', '--max-old-space-size=160']
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

let database: TestDatabase
let child: ChildProcess
let server: { readonly url: string; readonly token: string }

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  await cluster.fill(PODS, pods())
  const script = join(import.meta.dirname, '../support/server-process.ts')
  child = fork(script, [database.url], { execArgv: LITTLE_GARBAGE })
  const [message] = await once(child, 'message')
  server = message
})

afterAll(async () => {
  child?.kill()
  await database?.drop()
})

/** {@link FEW} in the namespace few, the others in many. */
function* pods() {
  for (let i = 0; i < MANY; i++) {
    const namespace = i < FEW ? 'few' : 'many'
    yield { metadata: metadata(`pod-${i}`, { namespace, labels: { app: `app-${i % 100}` } }) }
  }
}

async function ask(path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${server.token}`, accept: TABLE }
  const request = get(`${server.url}${FLEET_PREFIX}${path}`, { headers })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  return response
}

/** Reads at a steady pace; the system's buffers fill up behind it. */
async function readSlowly(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  const start = performance.now()
  let bytes = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    bytes += chunk.length
    const ahead = (bytes / BYTES_PER_SECOND) * 1000 - (performance.now() - start)
    if (ahead > 0) await delay(ahead)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function residentBytes(): Promise<number> {
  child.send('memory')
  const [message] = await once(child, 'message')
  return message.residentBytes
}

/** The most that was seen until the work is done. */
async function highest<T>(work: Promise<T>, measure: () => Promise<number>) {
  let most = 0
  let isDone = false
  const result = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    most = Math.max(most, await measure())
    await Promise.race([delay(200), result])
  }
  return { most, result: await result }
}

async function oldestTransactionSeconds(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)::float8 as age
     from pg_stat_activity where application_name = $1`,
    [APPLICATION_NAME],
  )
  return rows[0].age
}

test('fifty thousand rows to a slow client take little more memory than a thousand', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  let oldest = 0
  const measure = async () => {
    oldest = Math.max(oldest, await oldestTransactionSeconds(client))
    return residentBytes()
  }
  // What a process takes once, for code and connections, is none of what a list takes.
  const warm = await ask('/api/v1/pods')
  await once(warm.resume(), 'end')
  const few = await highest(ask('/api/v1/namespaces/few/pods').then(readSlowly), measure)
  const many = await highest(ask('/api/v1/pods').then(readSlowly), measure)
  await client.end()
  expect(JSON.parse(few.result).rows).toHaveLength(FEW)
  const { rows } = JSON.parse(many.result)
  expect(new Set(rows.map((row: { cells: unknown[] }) => row.cells[1])).size).toBe(MANY)
  expect(many.most - few.most).toBeLessThan(MEMORY_MOST_BYTES)
  expect(oldest).toBeLessThan(TRANSACTION_MOST_SECONDS)
}, 180_000)

test('a client that goes away ends the query', async () => {
  const response = await ask('/api/v1/pods')
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  response.destroy()
  await expect
    .poll(() => oldestTransactionSeconds(client), {
      timeout: TRANSACTION_MOST_SECONDS * 1000,
      interval: 50,
    })
    .toBe(0)
  await client.end()
})
