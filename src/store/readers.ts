/** Connections on which objects are read: of the primary, or of a standby beside it (read-replica.ts). */
import type pg from 'pg'
import { fromPostgres } from './pg-error.ts'
import type { RawStatement } from './raw-query.ts'
import { isInterruption } from './retry.ts'

export interface Readers {
  connect(): Promise<pg.PoolClient>
  /** Ends the query that runs on one of these connections, if it still does. Never fails. */
  cancel(client: pg.PoolClient): void
  /** How many connections there are, and how many of them nobody uses. */
  usage(): { readonly total: number; readonly idle: number }
}

/** @param control - another pool of the same server: the connection itself is busy. */
export function readersOf(pool: pg.Pool, control: pg.Pool): Readers {
  return {
    connect: () => pool.connect(),
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount }),
    cancel: (client) => {
      const { processID } = client as pg.PoolClient & { processID: number }
      control.query('select pg_cancel_backend($1)', [processID]).catch(() => {
        // The query ends by itself, at the latest at the statement timeout.
      })
    },
  }
}

const ATTEMPTS = 3

/**
 * All rows of a short answer; asked again when its server went away or its standby needed the rows.
 *
 * @throws StatusError as the database fails.
 */
export async function readRows<Row extends pg.QueryResultRow>(
  readers: Readers,
  statement: RawStatement,
): Promise<readonly Row[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce<Row>(readers, statement)
    } catch (error) {
      if (attempt === ATTEMPTS || !isInterruption(error)) throw fromPostgres(error)
    }
  }
}

async function readOnce<Row extends pg.QueryResultRow>(
  readers: Readers,
  { sql, parameters }: RawStatement,
): Promise<readonly Row[]> {
  const client = await readers.connect()
  try {
    const { rows } = await client.query<Row>(sql, [...parameters])
    client.release()
    return rows
  } catch (error) {
    client.release(error instanceof Error ? error : true)
    throw error
  }
}
