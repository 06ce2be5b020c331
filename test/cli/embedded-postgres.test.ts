import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  databaseElsewhere,
  type EmbeddedPostgres,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/cli/postgres/embedded-postgres.ts'
import { createLogger } from '../../src/log.ts'

const log = createLogger('silent')
let dataDir: string

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'fleetglass-test-'))
  chmodSync(dataDir, 0o711)
})
afterAll(() => rmSync(dataDir, { recursive: true }))

async function query(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows[0]?.[0]
  } finally {
    await client.end()
  }
}

function isRunning(server: EmbeddedPostgres): boolean {
  try {
    process.kill(server.pid, 0)
    return execFileSync('ps', ['-o', 'stat=', '-p', String(server.pid)]).toString()[0] !== 'Z'
  } catch {
    return false
  }
}

describe('the embedded PostgreSQL', () => {
  test('starts, keeps what it was told, and stops', async () => {
    const first = await startEmbeddedPostgres(dataDir, log)
    expect(await query(first.url, 'show server_encoding')).toBe('UTF8')
    await query(first.url, 'create table kept as select 42 as n')
    await first.stop()
    expect(isRunning(first)).toBe(false)
    const second = await startEmbeddedPostgres(dataDir, log)
    expect(await query(second.url, 'select n from kept')).toBe(42)
    await second.stop()
  })

  test('lets nobody in without the password', async () => {
    const server = await startEmbeddedPostgres(dataDir, log)
    const url = new URL(server.url)
    url.password = 'guessed'
    await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    await server.stop()
  })

  test('one that an earlier start left running is stopped, and nothing of it is lost', async () => {
    const orphan = await startEmbeddedPostgres(dataDir, log)
    await query(orphan.url, 'create table left_behind as select 7 as n')
    const server = await startEmbeddedPostgres(dataDir, log)
    expect(isRunning(orphan)).toBe(false)
    expect(await query(server.url, 'select n from left_behind')).toBe(7)
    await server.stop()
  })

  test('recovers from a server that was killed', async () => {
    const killed = await startEmbeddedPostgres(dataDir, log)
    await query(killed.url, 'create table survived as select 9 as n')
    process.kill(killed.pid, 'SIGKILL')
    const said = await killed.ended
    expect(said).toMatch(/^the embedded PostgreSQL ended: /)
    const server = await startEmbeddedPostgres(dataDir, log)
    expect(await query(server.url, 'select n from survived')).toBe(9)
    await server.stop()
  })

  test.skipIf(process.getuid?.() !== 0)(
    'is elsewhere, and is known to be, where its user cannot reach the data directory',
    async () => {
      expect(databaseElsewhere(dataDir)).toBe(undefined)
      const closed = mkdtempSync(join(tmpdir(), 'fleetglass-closed-'))
      const server = await startEmbeddedPostgres(closed, log)
      const folder = databaseElsewhere(closed)
      expect(folder).toMatch(/^\/var\/lib\/fleetglass\/fleetglass-closed-/)
      await server.stop()
      await removeEmbeddedPostgres(closed)
      expect(existsSync(folder!)).toBe(false)
      rmSync(closed, { recursive: true })
    },
  )

  test.skipIf(process.getuid?.() !== 0)('of a copy that root made says what to do', async () => {
    const copy = join(dataDir, 'copy')
    mkdirSync(join(copy, 'postgres/data'), { recursive: true })
    chownSync(join(copy, 'postgres'), 0, 0)
    await expect(startEmbeddedPostgres(copy, log)).rejects.toThrow(
      /^the embedded PostgreSQL cannot start: it does not run as root, .*chown/,
    )
  })

  test('without its password says which file is to be restored', async () => {
    const file = join(dataDir, 'postgres-password')
    const password = readFileSync(file, 'utf8')
    writeFileSync(file, '')
    await expect(startEmbeddedPostgres(dataDir, log)).rejects.toThrow(`${file} is empty`)
    writeFileSync(file, password)
  })

  test('that cannot start says why in a sentence', async () => {
    const server = await startEmbeddedPostgres(dataDir, log)
    await server.stop()
    rmSync(join(dataDir, 'postgres/data/global'), { recursive: true })
    const why = /^the embedded PostgreSQL cannot start: .*global/
    await expect(startEmbeddedPostgres(dataDir, log)).rejects.toThrow(why)
  })
})
