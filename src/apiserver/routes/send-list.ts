/** How a list of one type and one of several end: counted, if that is asked for, and streamed. */
import type { FastifyReply } from 'fastify'
import type { RawRow } from '../../store/list-request.ts'
import { countingRows } from '../audit.ts'
import type { Exchange } from '../exchange.ts'
import type { OpenStreams } from '../open-streams.ts'
import { type StreamedAnswer, streamAnswer } from './stream-answer.ts'
import { within } from './time-limit.ts'
import { type PageAnswer, writeList } from './write-list.ts'

export interface ReadList
  extends Omit<PageAnswer, 'totalCount'>,
    Pick<StreamedAnswer, 'warnings' | 'hints'> {
  /** Of the whole query; undefined when nobody asked. */
  readonly count: (() => Promise<number>) | undefined
  readonly rows: (signal: AbortSignal) => AsyncGenerator<readonly RawRow[]>
}

/** @throws only before anything was sent. */
export async function sendList(
  { openStreams }: { readonly openStreams: OpenStreams },
  call: Exchange,
  list: ReadList,
): Promise<FastifyReply> {
  const { limit, encoder, count, rows, warnings, hints } = list
  const totalCount = count && (await within(limit, count()))
  const answer = { ...list, totalCount, row: countingRows(call.request, list.row) }
  const streamed: StreamedAnswer = {
    ...{ limit, contentType: encoder.contentType, warnings, rows, ...(hints && { hints }) },
    write: (sink, batches) => writeList(sink, batches, answer),
  }
  return streamAnswer(call, streamed, openStreams)
}
