/** Tokens: shown once, found by their secret alone, and worthless once expired or revoked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createAccessToken,
  findAccessToken,
  listAccessTokens,
  revokeAccessToken,
  TokenNameTaken,
} from '../../src/store/access-tokens.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

let count = 0
const soon = (seconds: number) => new Date(Date.now() + seconds * 1000)
const create = (name = `t-${++count}`, expiresAt = soon(60)) =>
  createAccessToken(database.store, { name, userName: 'ann', groups: ['a', 'b'], expiresAt })
const find = (token: string) => findAccessToken(database.store, token)

describe('an access token', () => {
  test('tells who its bearer is', async () => {
    expect(await find(await create())).toEqual({ userName: 'ann', groups: ['a', 'b'] })
  })

  test('is not in the database', async () => {
    const secret = (await create()).slice(-43)
    const { rows } = await database.store.pool.query('select t::text as text from access_token t')
    expect(rows.some(({ text }) => text.includes(secret))).toBe(false)
  })

  test('of a name that is taken is refused', async () => {
    await create('twice')
    await expect(create('twice')).rejects.toThrow(TokenNameTaken)
  })

  test.each(['revoked', 'expired'])('takes the name of one that is %s', async (fate) => {
    const name = `once-${fate}`
    const before = await create(name, soon(fate === 'expired' ? -1 : 60))
    if (fate === 'revoked') await revokeAccessToken(database.store, name)
    const renewed = await create(name)
    expect(await find(renewed)).toEqual({ userName: 'ann', groups: ['a', 'b'] })
    expect(await find(before)).toBeUndefined()
    const listed = (await listAccessTokens(database.store)).filter((token) => token.name === name)
    expect(listed).toMatchObject([{ revokedAt: null }])
    await expect(create(name)).rejects.toThrow(TokenNameTaken)
  })

  test('is listed with its fate, and without its secret', async () => {
    await create('listed', soon(-1))
    const listed = (await listAccessTokens(database.store)).find(({ name }) => name === 'listed')
    expect(listed).toMatchObject({ userName: 'ann', groups: ['a', 'b'], revokedAt: null })
    expect(Object.keys(listed!).sort()).toEqual([
      'createdAt',
      'expiresAt',
      'groups',
      'name',
      'revokedAt',
      'userName',
    ])
  })
})

describe('what is no valid token', () => {
  const cases: ReadonlyArray<{ name: string; token: () => Promise<string> }> = [
    { name: 'expired', token: () => create(undefined, soon(-1)) },
    {
      name: 'revoked',
      token: async () => {
        const token = await create('revoked')
        expect(await revokeAccessToken(database.store, 'revoked')).toBe(true)
        expect(await revokeAccessToken(database.store, 'revoked')).toBe(false)
        return token
      },
    },
    {
      name: 'another secret',
      token: async () => `${(await create()).slice(0, -43)}${'A'.repeat(43)}`,
    },
    {
      name: 'an id that does not exist',
      token: async () => (await create()).replace(/_[0-9a-f]{16}_/, '_0123456789abcdef_'),
    },
    { name: 'a piece', token: async () => (await create()).slice(0, -1) },
    { name: 'more than a token', token: async () => `${await create()}x` },
    { name: 'a NUL', token: async () => `${(await create()).slice(0, -1)}\0` },
    { name: 'nothing', token: async () => '' },
  ]
  test.each(cases)('$name', async ({ token }) => {
    expect(await find(await token())).toBeUndefined()
  })

  test('a name that nobody has cannot be revoked', async () => {
    expect(await revokeAccessToken(database.store, 'nobody')).toBe(false)
  })
})
