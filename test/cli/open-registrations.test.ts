/** A key that is another installation's: said at once, not by clusters that cannot be reached. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRegistrations } from '../../src/cli/parts/open-registrations.ts'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

const ours = createKeyring(randomBytes(32))
const another = createKeyring(randomBytes(32))

async function open(
  keyring: typeof ours,
  work: (of: Awaited<ReturnType<typeof openRegistrations>>) => Promise<unknown>,
) {
  await using started = new AsyncDisposableStack()
  const parts = { store: database.store, keyring, clock: systemClock, keyFile: '/etc/key' }
  await work(await openRegistrations(parts, started))
}

function create(name: string) {
  const kind = kindOfResource('cluster.clusterpedia.io', 'pediaclusters')
  const tokenData = Buffer.from('secret').toString('base64')
  const spec = { apiserver: 'https://10.0.0.1', tokenData }
  const object = {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: kind.kind,
    metadata: { name },
    spec,
  }
  const body = { text: JSON.stringify(object), format: 'json' as const }
  return (registrations: Awaited<ReturnType<typeof openRegistrations>>) =>
    registrations.create({ kind, body, options: { fieldManager: 'test' } })
}

test('any key will do while there is nothing sealed, then only that one', async () => {
  await open(another, async () => undefined)
  await open(ours, create('one'))
  await open(ours, async () => undefined)
  await expect(open(another, async () => undefined)).rejects.toThrow(
    'the credentials in the database were not sealed with the key in /etc/key: give the key of this installation (--encryption-key-file)',
  )
})

test('one registration whose credentials do not open keeps nobody from starting', async () => {
  await open(ours, create('two'))
  await database.store.pool.query(
    `update registration set credentials = '\\x00'::bytea where name = 'two'`,
  )
  await open(ours, async () => undefined)
})
