/**
 * Makes the rows of one type again from their bytes, in the background: a batch at a time in the
 * whole process, while the type goes on being followed.
 */
import type { ObjectKey } from '../store/object-row.ts'
import type { WriteTarget } from '../store/put-objects.ts'
import { endRemake, putRemadeRows, type RowBounds, readOldRows } from '../store/remake-rows.ts'
import { InvalidObject, type ObjectEncoder } from './encode-object.ts'
import type { SyncServices } from './services.ts'

/** Some ten milliseconds of work, between which everything else has its turn. */
const BOUNDS: RowBounds = { rows: 100, bytes: 4 * 1024 * 1024 }
const PAUSE_MILLISECONDS = 20

/** @throws LeaseLost, the signal's reason, or what the store fails with; then it is called again. */
export async function remakeType(
  services: Pick<SyncServices, 'store' | 'remakes' | 'clock' | 'metrics'>,
  { target, encode }: { readonly target: WriteTarget; readonly encode: ObjectEncoder },
  signal: AbortSignal,
): Promise<void> {
  const { store, remakes, clock, metrics } = services
  let after: ObjectKey | undefined
  do {
    after = await remakes.run(
      async () => {
        const old = await readOldRows(store, target, { after, bounds: BOUNDS })
        const rows = old.flatMap(({ bytes }) => encoded(encode, bytes))
        metrics.remade(await putRemadeRows(store, target, rows))
        return old.at(-1)
      },
      { signal },
    )
    if (after) await clock.sleep(PAUSE_MILLISECONDS, signal)
  } while (after)
  await endRemake(store, target)
}

/** What was mirrored once and is refused now stays as it is: the member's next change decides. */
function encoded(encode: ObjectEncoder, bytes: Buffer): ReturnType<ObjectEncoder>[] {
  try {
    return [encode(bytes)]
  } catch (error) {
    if (error instanceof InvalidObject) return []
    throw error
  }
}
