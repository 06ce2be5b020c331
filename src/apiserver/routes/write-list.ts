/** Writes the rows of a page into the answer, and behind them where the next page starts. */
import { formatContinue } from '../../kube/continue-token.ts'
import type { RawRow } from '../../store/list-request.ts'
import type { ByteSink } from '../encode/byte-sink.ts'
import type { ListEncoder, ListMetadata } from '../encode/list-encoder.ts'
import type { RowJson } from '../encode/row-json.ts'
import type { Page } from './page.ts'

export interface PageAnswer {
  readonly page: Page
  readonly encoder: ListEncoder
  readonly row: RowJson
  readonly resourceVersion: string
  /** Of the query, for the continue token. */
  readonly checksum: string
  /** Of the whole query; undefined when nobody asked. */
  readonly totalCount: number | undefined
  /** When it is aborted, the page ends with the row that is being written. */
  readonly limit?: AbortSignal | undefined
}

/** @param batches - one row more than the page holds, where another page may follow. */
export async function writeList(
  sink: ByteSink,
  batches: AsyncIterable<readonly RawRow[]>,
  answer: PageAnswer,
): Promise<void> {
  const { encoder } = answer
  await write(sink, [encoder.open()])
  const { shown, next } = await writeRows(sink, batches, answer)
  const close = shown === 0 ? encoder.closeEmpty : encoder.close
  await write(sink, [close(metadataOf(answer, shown, next))])
}

/** How far a page has come. */
interface Progress {
  shown: number
  last: RawRow | undefined
  /** Whether a row follows the last one, or may follow. */
  unfinished: boolean
}

async function writeRows(
  sink: ByteSink,
  batches: AsyncIterable<readonly RawRow[]>,
  answer: PageAnswer,
): Promise<{ shown: number; next?: RawRow }> {
  const progress: Progress = { shown: 0, last: undefined, unfinished: false }
  try {
    for await (const rows of batches) {
      await writeBatch(sink, rows, { answer, progress })
      if (progress.unfinished) break
    }
  } catch (error) {
    // The query was ended because time is over: what was written is a page of its own.
    if (!answer.limit?.aborted || error !== answer.limit.reason || !progress.last) throw error
    progress.unfinished = true
  }
  const { shown, last, unfinished } = progress
  return { shown, ...(unfinished && last && { next: last }) }
}

async function writeBatch(
  sink: ByteSink,
  rows: readonly RawRow[],
  { answer, progress }: { readonly answer: PageAnswer; readonly progress: Progress },
): Promise<void> {
  const { page, encoder, row: toJson, limit } = answer
  const most = page.limit ?? Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (progress.shown === most || (limit?.aborted && progress.last)) {
      progress.unfinished = true
      return
    }
    const entry = progress.shown === 0 ? encoder.first : encoder.next
    const waiting = write(sink, entry(toJson(row)))
    if (waiting !== undefined) await waiting
    progress.shown++
    progress.last = row
  }
}

/** Undefined when all of it fitted: the common case costs no promise. */
function write(sink: ByteSink, pieces: readonly Buffer[]): Promise<void> | undefined {
  for (let i = 0; i < pieces.length; i++) {
    const waiting = sink.write(pieces[i]!)
    if (waiting !== undefined) return writeRest(waiting, sink, pieces.slice(i + 1))
  }
  return undefined
}

async function writeRest(
  waiting: Promise<void>,
  sink: ByteSink,
  pieces: readonly Buffer[],
): Promise<void> {
  await waiting
  for (const piece of pieces) await sink.write(piece)
}

/** @param next - the last row shown, when another follows it. */
function metadataOf(answer: PageAnswer, shown: number, next: RawRow | undefined): ListMetadata {
  const { page, checksum, totalCount, resourceVersion } = answer
  const seen = page.seen + shown
  return {
    resourceVersion,
    ...(next && { continue: formatContinue({ after: next.position(), seen }, checksum) }),
    ...(totalCount !== undefined && { remainingItemCount: Math.max(0, totalCount - seen) }),
  }
}
