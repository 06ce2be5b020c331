/** Processes of a management cluster whose database is not there when they start. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { testDatabase } from '../support/database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { ManagedProcesses, type RunningPart } from './managed-processes.ts'

const SYNCER = ['syncer', '--metrics-listen=127.0.0.1:0']

let fleet: ManagedProcesses
let port: number

beforeAll(async () => {
  fleet = await ManagedProcesses.create()
  port = await freePort()
})

afterAll(() => fleet.stop())

const startApiserver = (databaseUrl: string) => {
  const dataDir = `--data-dir=${fleet.cluster.folder}/data`
  return fleet.run(['apiserver', `--listen=127.0.0.1:${port}`, dataDir], databaseUrl)
}
/** It says where it answers once it is ready; before, it is asked where it was told to. */
const asked = async (apiserver: RunningPart, path: string) =>
  apiserver.ask(path, `https://127.0.0.1:${port}`).catch(() => [0, ''] as const)

describe('a database that does not answer', () => {
  test('is waited for, and they say so', async () => {
    const url = new URL(fleet.database.url)
    const way = new TcpProxy({ host: url.hostname, port: Number(url.port) })
    await way.start()
    url.port = String(way.port)
    await way.stop()
    const apiserver = startApiserver(url.href)
    const syncer = fleet.run(SYNCER, url.href)

    await until(async () => (await asked(apiserver, '/readyz'))[0] === 500)
    expect(await asked(apiserver, '/readyz')).toEqual([
      500,
      '[+]ping ok\n[-]database failed: nothing listens there\nreadyz check failed\n',
    ])
    expect(await asked(apiserver, '/livez')).toEqual([200, 'ok'])
    const [code, text] = await asked(apiserver, '/apis')
    expect(code).toBe(503)
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable' })
    await until(async () => (await syncer.ask('/readyz'))[1].includes('nothing listens'))
    expect(await syncer.ask('/readyz')).toEqual([500, 'the database: nothing listens there'])
    expect(await syncer.ask('/livez')).toEqual([200, 'ok'])
    for (const { text: said } of [apiserver, syncer]) expect(said).not.toContain('password')

    await way.start()
    await until(async () => (await syncer.ask('/readyz'))[0] === 200)
    // Nobody vouches for users in this cluster, so the API server is not ready for want of that.
    await until(async () => (await asked(apiserver, '/readyz'))[1].includes('[+]database ok'))
    await Promise.all([apiserver.end('SIGTERM'), syncer.end('SIGTERM')])
    await way.stop()
  })
})

describe('a database that was not migrated', () => {
  test('is waited for until it is', async () => {
    const database = await testDatabase({ empty: true })
    const apiserver = startApiserver(database.url)
    const syncer = fleet.run(SYNCER, database.url)
    const why = 'it has not been migrated to the schema of this release yet'
    await until(async () => (await asked(apiserver, '/readyz'))[1].includes(why))
    await until(async () => (await syncer.ask('/readyz'))[1].includes(why))
    expect(syncer.text).toContain('run fleetglass migrate first')

    await migrate(database.store)
    await until(async () => (await syncer.ask('/readyz'))[0] === 200)
    await until(async () => (await asked(apiserver, '/readyz'))[1].includes('[+]database ok'))
    await Promise.all([apiserver.end('SIGTERM'), syncer.end('SIGTERM')])
    await database.drop()
  })
})

test('one that refuses us is not waited for', { timeout: 30_000 }, async () => {
  const url = new URL(fleet.database.url)
  url.pathname = 'nowhere'
  const syncer = fleet.run(SYNCER, url.href)
  await until(() => syncer.child.exitCode !== null)
  expect(syncer.child.exitCode).toBe(1)
  expect(syncer.text).toContain('there is no such database')
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
