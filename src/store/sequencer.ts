/**
 * Gives every change its fleet revision, in an order that no reader can see a hole in.
 *
 * Writers of different clusters commit in any order. The sequencer, one in the whole fleet, takes
 * the batches that are committed, numbers them and commits: so when revision N is visible,
 * everything below it is. It never waits for a writer: what is not committed yet is simply
 * numbered later, and a rolled-back batch leaves no trace. Within a cluster batches become visible
 * in their order (store/leases.ts), and keep it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from '../log.ts'
import type { Store } from './connect.ts'
import { listen } from './listen.ts'
import { CHANGE_CHANNEL } from './notifications.ts'
import { isInterruption } from './retry.ts'
import { keepRegistrationRevisions, keepRevisionsUnique } from './timeline.ts'

/** Any constant: what the sequencers of all processes agree to lock. */
const SEQUENCER_LOCK = 7_140_351_002n
const BATCHES_AT_ONCE = 5_000
const POLL_SECONDS = 5
const RETRY_MILLISECONDS = 1_000

export interface SequencerOptions {
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Runs until aborted; stands by while another process is the sequencer. Never rejects. */
export async function runSequencer(store: Store, { signal, log }: SequencerOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await sequenceUntilBroken(store, signal)
    } catch (error) {
      // A restart or failover of the database is no failure of ours: the next attempt tells more.
      if (isInterruption(error)) log.info({ err: error }, 'the sequencer connects again')
      else log.warn({ err: error }, 'the sequencer lost its database; it tries again')
    }
    await pause(signal)
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(RETRY_MILLISECONDS, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

async function sequenceUntilBroken(store: Store, signal: AbortSignal): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const client = await store.dedicated()
  opened.defer(() => client.end())
  const bell = new Bell()
  const ring = () => bell.ring()
  signal.addEventListener('abort', ring)
  opened.defer(() => signal.removeEventListener('abort', ring))
  const broken = new Promise<never>((_, reject) => client.once('error', reject))
  broken.catch(ring)
  const listening = { channel: CHANGE_CHANNEL, pollSeconds: POLL_SECONDS, listener: ring }
  opened.defer(await listen(store, listening))
  const work = async () => {
    if (!(await becomeSequencer(client, signal))) return
    await keepRegistrationRevisions(client)
    await stampUntilAborted(client, bell, signal)
  }
  await Promise.race([work(), broken])
}

/** The lock is the session's: it falls with the connection, whatever happens to the process. */
async function becomeSequencer(client: pg.Client, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const { rows } = await client.query<{ won: boolean }>(
      'select pg_try_advisory_lock($1) as won',
      [SEQUENCER_LOCK],
    )
    if (rows[0]?.won) return true
    await pause(signal)
  }
  return false
}

async function stampUntilAborted(
  client: pg.Client,
  bell: Bell,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    bell.reset()
    const stamped = await stampBatches(client)
    if (stamped < BATCHES_AT_ONCE) await bell.rung()
  }
}

/**
 * The prefix of each cluster's unstamped batches, in order. The row of `fleet_revision` is locked,
 * so even two sequencers (one whose connection died unnoticed) would number one after the other.
 */
export const STAMP_BATCHES = `
with revision as (
  select latest from fleet_revision for update
), batch as materialized (
  select cluster_id, last_seq, last_seq - first_seq + 1 as changes
  from change_batch where last_revision is null
  order by cluster_id, last_seq limit $1
), numbered as materialized (
  select cluster_id, last_seq,
    (select latest from revision) + sum(changes) over (order by cluster_id, last_seq) as revision
  from batch
), stamped as (
  update change_batch b set last_revision = n.revision
  from numbered n where b.cluster_id = n.cluster_id and b.last_seq = n.last_seq
  returning b.last_revision
), moved as (
  update fleet_revision set latest = (select max(last_revision) from stamped)
  where exists (select from stamped)
)
select count(*)::int as stamped from stamped`

const KEEP_UNIQUE = keepRevisionsUnique('fleet_revision')

async function stampBatches(client: pg.Client): Promise<number> {
  // Two statements, because the snapshot of the second must be taken after the lock is held.
  await client.query('begin')
  try {
    await client.query('select from fleet_revision for update')
    await client.query(KEEP_UNIQUE)
    const { rows } = await client.query<{ stamped: number }>(STAMP_BATCHES, [BATCHES_AT_ONCE])
    await client.query('commit')
    return rows[0]!.stamped
  } catch (error) {
    // A connection that broke has no transaction left; what broke it is what to tell.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Rung by notifications; a ring while the sequencer is at work is not lost. */
class Bell {
  #isRung = false
  #wake: () => void = () => undefined

  ring(): void {
    this.#isRung = true
    this.#wake()
  }

  reset(): void {
    this.#isRung = false
  }

  async rung(): Promise<void> {
    if (this.#isRung) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }
}
