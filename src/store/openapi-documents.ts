/** The OpenAPI documents of members, equal ones stored once and compressed. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { sql } from 'kysely'
import type { Store } from './connect.ts'
import { type Lease, underLease } from './leases.ts'
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

/** @throws LeaseLost when another process writes this cluster now. */
export async function putOpenApiDocument(
  store: Store,
  lease: Lease,
  { path, body }: { readonly path: string; readonly body: Buffer },
): Promise<void> {
  const digest = createHash('sha512').update(body).digest('hex')
  const compressed = await compress(body)
  await underLease(store, lease, async ({ client, clusterId }) => {
    // From here on no pruning can take the document before its cluster names it.
    await client.query(
      'set local synchronous_commit = on; lock table openapi_document in row exclusive mode',
    )
    await client.query(
      'insert into openapi_document (digest, body) values ($1, $2) on conflict (digest) do nothing',
      [digest, compressed],
    )
    await client.query(
      `insert into cluster_openapi (cluster_id, path, digest) values ($1, $2, $3)
       on conflict (cluster_id, path) do update set digest = excluded.digest`,
      [clusterId, path, digest],
    )
  })
}

/** @throws LeaseLost when another process writes this cluster now. */
export async function removeOpenApiDocument(
  store: Store,
  lease: Lease,
  path: string,
): Promise<void> {
  await underLease(store, lease, async ({ client, clusterId }) => {
    await client.query('delete from cluster_openapi where cluster_id = $1 and path = $2', [
      clusterId,
      path,
    ])
  })
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
