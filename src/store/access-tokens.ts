/**
 * Bearer tokens that we issue: `fgt_<id>_<secret>`.
 *
 * The store holds only a digest of the secret half, so whoever reads the database or a backup of
 * it cannot log in with what they find. The id half finds the row; it is no secret.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Store } from './connect.ts'
import { fromPostgres } from './pg-error.ts'

const ID_BYTES = 8
/** As much as a SHA-256 can hold: so a plain digest needs no salt and no stretching. */
const SECRET_BYTES = 32
const TOKEN = /^fgt_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/

export interface NewAccessToken {
  /** What it is listed and revoked by. */
  readonly name: string
  /** Who its bearer is. */
  readonly userName: string
  readonly groups: readonly string[]
  readonly expiresAt: Date
}

export interface AccessToken extends NewAccessToken {
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

/** A token of that name exists already. */
export class TokenNameTaken extends Error {
  override readonly name = 'TokenNameTaken'

  constructor(name: string) {
    super(`there is already a token named ${JSON.stringify(name)}`)
  }
}

/**
 * @returns the token: shown once, it cannot be had again.
 * @throws {@link TokenNameTaken}
 */
export async function createAccessToken(store: Store, token: NewAccessToken): Promise<string> {
  const id = randomBytes(ID_BYTES).toString('hex')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const row = {
    id,
    digest: digestOf(secret),
    user_name: token.userName,
    groups: [...token.groups],
    created_at: sql<Date>`now()`,
    expires_at: token.expiresAt,
    revoked_at: null,
  }
  // A token is renewed by another of its name, once it is worthless.
  const made = await store.db
    .insertInto('access_token')
    .values({ name: token.name, ...row })
    .onConflict((taken) =>
      taken
        .column('name')
        .doUpdateSet(row)
        .where((eb) =>
          eb.or([
            eb('access_token.revoked_at', 'is not', null),
            eb('access_token.expires_at', '<=', sql<Date>`now()`),
          ]),
        ),
    )
    .executeTakeFirst()
  if (made.numInsertedOrUpdatedRows !== 1n) throw new TokenNameTaken(token.name)
  return `fgt_${id}_${secret}`
}

/** By name; expired and revoked ones too. */
export async function listAccessTokens(store: Store): Promise<readonly AccessToken[]> {
  const rows = await store.db.selectFrom('access_token').selectAll().orderBy('name').execute()
  return rows.map((row) => ({
    name: row.name,
    userName: row.user_name,
    groups: row.groups,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }))
}

/** @returns false when there is no token of that name, or it was revoked before. */
export async function revokeAccessToken(store: Store, name: string): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('access_token')
    .set({ revoked_at: new Date() })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Whether a token has the form of ours; it need not be good. */
export function isAccessToken(token: string): boolean {
  return token.startsWith('fgt_')
}

/** @returns undefined for what is no token of ours, or is expired or revoked. */
export async function findAccessToken(
  store: Store,
  token: string,
): Promise<{ userName: string; groups: readonly string[] } | undefined> {
  const [, id, secret] = TOKEN.exec(token) ?? []
  if (id === undefined || secret === undefined) return undefined
  try {
    const row = await store.db
      .selectFrom('access_token')
      .select(['digest', 'user_name', 'groups', 'expires_at', 'revoked_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row || !timingSafeEqual(row.digest, digestOf(secret))) return undefined
    const isValid = row.revoked_at === null && row.expires_at.getTime() > Date.now()
    return isValid ? { userName: row.user_name, groups: row.groups } : undefined
  } catch (error) {
    throw fromPostgres(error)
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
