/**
 * What is done with a batch that PostgreSQL refused: everything that it can hold is written, and
 * the rest is named.
 *
 * Which object it was PostgreSQL does not say, so halves are tried until it is alone.
 */
import type { ObjectChange, ObjectKey } from './object-row.ts'
import { fromPostgres } from './pg-error.ts'
import { sqlStateOf } from './retry.ts'
import { type ChangeCounts, noChanges, type WriteInto, writeChanges } from './write-changes.ts'

export interface RefusedChange {
  readonly key: ObjectKey
  /** PostgreSQL's sentence; it may quote the object. */
  readonly reason: string
}

/**
 * True when the data is at fault: class 22 (data exception), 23 (constraint) or 54 (a limit, such
 * as the length of an index row), or a parameter beyond what the protocol can carry.
 */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlStateOf(error)) || error instanceof RangeError
}

export async function writeOneByOne(
  into: WriteInto,
  changes: readonly ObjectChange[],
): Promise<ChangeCounts & { refused: readonly RefusedChange[] }> {
  const counts = noChanges()
  const refused: RefusedChange[] = []
  const rest = [changes]
  for (let part = rest.pop(); part; part = rest.pop()) {
    const result = await attempt(into, part)
    if (!(result instanceof Error)) {
      for (const key of ['added', 'modified', 'deleted', 'unchanged'] as const) {
        counts[key] += result[key]
      }
    } else if (part.length === 1) {
      refused.push({ key: keyOf(part[0]!), reason: result.message })
    } else {
      const middle = part.length >> 1
      rest.push(part.slice(middle), part.slice(0, middle))
    }
  }
  return { ...counts, refused }
}

/** Within a savepoint, so that a refusal costs only this part. */
async function attempt(
  into: WriteInto,
  part: readonly ObjectChange[],
): Promise<ChangeCounts | Error> {
  const { client } = into.transaction
  await client.query('savepoint part')
  try {
    const counts = await writeChanges(into, part)
    await client.query('release savepoint part')
    return counts
  } catch (error) {
    if (!isRefusal(error)) throw fromPostgres(error)
    await client.query('rollback to savepoint part')
    return error as Error
  }
}

function keyOf(change: ObjectChange): ObjectKey {
  if (change.op === 'delete') return change.key
  return { namespace: change.row.namespace, name: change.row.name }
}
