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

async function writeRows(
  sink: ByteSink,
  batches: AsyncIterable<readonly RawRow[]>,
  { page, encoder, row: toJson }: PageAnswer,
): Promise<{ shown: number; next?: RawRow }> {
  const limit = page.limit ?? Number.POSITIVE_INFINITY
  let shown = 0
  let last: RawRow | undefined
  for await (const rows of batches) {
    for (const row of rows) {
      if (shown === limit) return { shown, ...(last && { next: last }) }
      const entry = shown === 0 ? encoder.first : encoder.next
      const waiting = write(sink, entry(toJson(row)))
      if (waiting !== undefined) await waiting
      shown++
      last = row
    }
  }
  return { shown }
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
