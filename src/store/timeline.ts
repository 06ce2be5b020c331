/**
 * Revisions after a failover: none is ever given out twice.
 *
 * A standby that is promoted may lack the last transactions of the old primary, and with them
 * revisions that clients hold already. Counting on from what it has would give the same numbers to
 * other changes, and a client that resumes from its own would miss them without a word. PostgreSQL
 * begins a new timeline then; whoever gives out revisions notices, leaves out more numbers than can
 * have been lost, and raises the floor: who held one of before reads anew (410).
 *
 * Not here: rows of the mirror that were lost, which syncers read again (leases.ts).
 */
import type pg from 'pg'

/** A day of 10,000 changes a second. */
const LEFT_OUT = 1_000_000_000n

/** Fails on a standby with SQLSTATE 55000 or 25006: it takes no writes either. */
const TIMELINE = `left(pg_walfile_name(pg_current_wal_lsn()), 8)`

/**
 * In the transaction that gives out revisions, with their row locked, before it does. The first
 * statement on a database only notes the timeline.
 */
export function keepRevisionsUnique(table: 'fleet_revision' | 'registration_revision'): string {
  return `update ${table} set timeline = ${TIMELINE},
    latest = latest + case when timeline is null then 0 else ${LEFT_OUT} end,
    floor = case when timeline is null then floor else latest + ${LEFT_OUT} end
    where timeline is distinct from ${TIMELINE}`
}

/** For whoever only waits for the next registration: without it, nobody may write one for long. */
export async function keepRegistrationRevisions(client: pg.ClientBase): Promise<void> {
  await client.query(keepRevisionsUnique('registration_revision'))
}
