/**
 * Sends an answer of any size: rows as they come from the database, at the pace of the client.
 *
 * What fails before the first row is there becomes a Status. After that the status line is out, so
 * the connection is destroyed: a list that is cut off must never look complete.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { StatusError } from '../../kube/status-error.ts'
import type { RawRow } from '../../store/list-request.ts'
import type { ByteSink } from '../encode/byte-sink.ts'
import { PrettyJson } from '../encode/pretty-json.ts'
import { ClientGone, ResponseWriter } from '../encode/response-writer.ts'
import { type Exchange, isForPeople, warn } from '../exchange.ts'
import type { OpenStreams } from '../open-streams.ts'
import { whenClosed } from '../when-closed.ts'
import { tookTooLong } from './time-limit.ts'

export interface StreamedAnswer {
  /** When it is over, `write` ends the list where it is; before the first row it is refused. */
  readonly limit?: AbortSignal | undefined
  readonly contentType: string
  /** Sentences. */
  readonly warnings: readonly string[]
  /** Further warnings, when there is no row at all. */
  readonly hints?: () => Promise<readonly string[]>
  /** The signal is aborted when the client goes away: nobody waits for the rest of the query. */
  readonly rows: (signal: AbortSignal) => AsyncGenerator<readonly RawRow[]>
  readonly write: (sink: ByteSink, batches: AsyncIterable<readonly RawRow[]>) => Promise<void>
}

/** @throws only before anything was sent. */
export async function streamAnswer(
  exchange: Exchange,
  answer: StreamedAnswer,
  open: OpenStreams,
): Promise<FastifyReply> {
  const { reply } = exchange
  const gone = new AbortController()
  whenClosed(reply.raw, () => gone.abort(new ClientGone()))
  const { limit } = answer
  const rows = answer.rows(limit ? AbortSignal.any([gone.signal, limit]) : gone.signal)
  try {
    const first = await rows.next()
    const hints = first.done ? ((await answer.hints?.()) ?? []) : []
    const warnings = [...answer.warnings, ...hints]
    const response = startResponse(reply, { ...answer, warnings })
    const done = open.add(response)
    await sendRest(exchange, answer, withFirst(first, rows)).finally(done)
  } catch (error) {
    if (!gone.signal.aborted) throw limit?.aborted ? tookTooLong() : error
    // There is nobody to send a Status to.
    reply.hijack()
  } finally {
    await rows.return(undefined)
  }
  return reply
}

async function sendRest(
  { request, reply }: Exchange,
  answer: StreamedAnswer,
  batches: AsyncIterable<readonly RawRow[]>,
): Promise<void> {
  const response = reply.raw
  try {
    const writer = new ResponseWriter(response)
    const pretty = answer.contentType === 'application/json' && isForPeople(request)
    await answer.write(pretty ? new PrettyJson(writer) : writer, batches)
    await writer.end()
  } catch (error) {
    if (error instanceof ClientGone) request.log.debug('the client left before the end of a list')
    else if (isTimeout(error)) request.log.info('a list was cut off at the statement timeout')
    else request.log.error({ err: error }, 'a list was cut off')
    response.destroy()
  }
}

/** Asked for too much, and so answered: nothing that is wrong here. */
function isTimeout(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Timeout'
}

/** Takes the response out of Fastify's hands: its own streams would hold what we recycle. */
function startResponse(reply: FastifyReply, answer: StreamedAnswer): ServerResponse {
  reply.header('Content-Type', answer.contentType).header('Cache-Control', 'no-cache, private')
  warn({ reply }, answer.warnings)
  const headers = reply.getHeaders()
  reply.hijack()
  const { raw } = reply
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200)
  return raw
}

async function* withFirst<T>(
  first: IteratorResult<T, unknown>,
  rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (first.done) return
  yield first.value
  yield* rest
}
