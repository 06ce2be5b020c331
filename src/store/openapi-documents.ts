/** The OpenAPI documents of members, equal ones stored once and compressed. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { sql } from 'kysely'
import type { Store } from './connect.ts'
import { fromPostgres } from './pg-error.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Which document a member serves at a path. */
export interface ClusterOpenApiPath {
  readonly clusterId: number
  /** `apis/apps/v1`, as in /openapi/v3. */
  readonly path: string
  /** Hex SHA-512 of the document. */
  readonly digest: string
}

export async function putOpenApiDocument(
  store: Store,
  clusterId: number,
  { path, body }: { readonly path: string; readonly body: Buffer },
): Promise<void> {
  const digest = createHash('sha512').update(body).digest('hex')
  const compressed = await compress(body)
  await store.db.transaction().execute(async (transaction) => {
    // From here on no pruning can take the document before its cluster names it.
    await sql`lock table openapi_document in row exclusive mode`.execute(transaction)
    await transaction
      .insertInto('openapi_document')
      .values({ digest, body: compressed })
      .onConflict((conflict) => conflict.column('digest').doNothing())
      .execute()
    await transaction
      .insertInto('cluster_openapi')
      .values({ cluster_id: clusterId, path, digest })
      .onConflict((conflict) => conflict.columns(['cluster_id', 'path']).doUpdateSet({ digest }))
      .execute()
  })
}

export async function removeOpenApiDocument(
  store: Store,
  clusterId: number,
  path: string,
): Promise<void> {
  await store.db
    .deleteFrom('cluster_openapi')
    .where('cluster_id', '=', clusterId)
    .where('path', '=', path)
    .execute()
}

/** By cluster and path. */
export async function listOpenApiPaths(
  store: Store,
  clusterIds: readonly number[],
): Promise<readonly ClusterOpenApiPath[]> {
  try {
    const rows = await store.db
      .selectFrom('cluster_openapi')
      .selectAll()
      .where(sql<boolean>`cluster_id = any (${clusterIds}::int4[])`)
      .orderBy('cluster_id')
      .orderBy('path')
      .execute()
    return rows.map(({ cluster_id, path, digest }) => ({ clusterId: cluster_id, path, digest }))
  } catch (error) {
    throw fromPostgres(error)
  }
}

/** @returns undefined when no member serves such a document any more. */
export async function getOpenApiDocument(
  store: Store,
  digest: string,
): Promise<Buffer | undefined> {
  try {
    const row = await store.db
      .selectFrom('openapi_document')
      .select('body')
      .where('digest', '=', digest)
      .executeTakeFirst()
    return row && (await decompress(row.body))
  } catch (error) {
    throw fromPostgres(error)
  }
}

/** Deletes documents that no cluster serves any more. @returns how many. */
export async function pruneOpenApiDocuments(store: Store): Promise<number> {
  return store.db.transaction().execute(async (transaction) => {
    // Waits for those that are storing one, so that the next statement sees who names it.
    await sql`lock table openapi_document in share row exclusive mode`.execute(transaction)
    const { numDeletedRows } = await transaction
      .deleteFrom('openapi_document as d')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('cluster_openapi as c')
              .select('c.path')
              .whereRef('c.digest', '=', 'd.digest'),
          ),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  })
}
