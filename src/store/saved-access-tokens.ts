/** Access tokens as a backup holds them: digests, from which no token can be made. */
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

export interface SavedAccessToken {
  readonly id: string
  /** Hexadecimal. */
  readonly digest: string
  readonly name: string
  readonly userName: string
  readonly groups: readonly string[]
  /** RFC 3339. */
  readonly createdAt: string
  readonly expiresAt: string
  readonly revokedAt: string | null
}

export async function saveAccessTokens(db: Kysely<Database>): Promise<readonly SavedAccessToken[]> {
  const rows = await db.selectFrom('access_token').selectAll().orderBy('name').execute()
  return rows.map((row) => ({
    id: row.id,
    digest: row.digest.toString('hex'),
    name: row.name,
    userName: row.user_name,
    groups: row.groups,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  }))
}

/** Into a store that has none of these. */
export async function restoreAccessTokens(
  db: Kysely<Database>,
  saved: readonly SavedAccessToken[],
): Promise<void> {
  if (saved.length === 0) return
  const rows = saved.map((token) => ({
    id: token.id,
    digest: Buffer.from(token.digest, 'hex'),
    name: token.name,
    user_name: token.userName,
    groups: [...token.groups],
    created_at: new Date(token.createdAt),
    expires_at: new Date(token.expiresAt),
    revoked_at: token.revokedAt === null ? null : new Date(token.revokedAt),
  }))
  await db.insertInto('access_token').values(rows).execute()
}
