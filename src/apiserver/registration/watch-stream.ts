/** Sends a watch: one JSON line per event, for as long as the client stays and the time lasts. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { toStatus } from '../../kube/status-error.ts'
import { formatJson } from '../../registration/json-text.ts'
import type { RegistrationKind } from '../../registration/kinds.ts'
import type { Served } from '../../registration/list.ts'
import type { WatchEvent } from '../../registration/watch.ts'
import { whenClosed } from '../when-closed.ts'
import { bookmark, type Representer } from './represent.ts'

export interface WatchStream {
  readonly kind: RegistrationKind
  readonly representer: Representer
  /** Ends when its signal is aborted. */
  readonly events: (signal: AbortSignal) => AsyncIterable<WatchEvent>
  readonly timeoutSeconds: number
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** Fulfilled when the reader's rights are others, or its signal is aborted. */
  readonly rightsChange: (signal: AbortSignal) => Promise<void>
}

/** A timer for longer than this fires at once. */
const TIMER_MOST_MILLISECONDS = 2 ** 31 - 1

/** Fulfilled when the stream is over. Never fails: what goes wrong is the last event. */
export async function sendWatch(reply: FastifyReply, stream: WatchStream): Promise<void> {
  reply.hijack()
  const response = reply.raw
  const over = new AbortController()
  const end = () => over.abort()
  const timer = setTimeout(end, Math.min(stream.timeoutSeconds * 1000, TIMER_MOST_MILLISECONDS))
  whenClosed(response, end)
  if (stream.stopping.aborted) end()
  stream.stopping.addEventListener('abort', end)
  void untilRightsChange(reply, stream, over.signal).finally(end)
  // At once, also when nothing happens: the client is to know that it is being served.
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
  })
  response.flushHeaders()
  try {
    await writeEvents(response, stream, over.signal)
  } catch (error) {
    reply.log.error({ err: error }, 'a watch failed')
    response.write(line('ERROR', formatJson(toStatus(error) as never)))
  } finally {
    clearTimeout(timer)
    stream.stopping.removeEventListener('abort', end)
    over.abort()
    response.end(() => {
      // A connection that is kept would keep the server from stopping.
      const { socket } = response
      if (stream.stopping.aborted) socket?.end(() => socket.destroy())
    })
  }
}

/** Never rejects: a watch whose reader's rights cannot be told ends as if they were others. */
async function untilRightsChange(
  { log }: FastifyReply,
  { rightsChange }: WatchStream,
  signal: AbortSignal,
): Promise<void> {
  try {
    await rightsChange(signal)
  } catch (error) {
    log.error({ err: error }, 'a watch ends, because the rights of its reader cannot be told')
  }
}

async function writeEvents(
  response: ServerResponse,
  { kind, representer, events }: WatchStream,
  signal: AbortSignal,
): Promise<void> {
  let isFirst = true
  for await (const event of events(signal)) {
    if (signal.aborted) return
    const text =
      event.type === 'ERROR'
        ? JSON.stringify(event.status)
        : representer.watched(objectOf(event, kind), isFirst)
    isFirst = false
    // A client that reads slowly keeps this one event waiting, and nothing else.
    if (!response.write(line(event.type, text))) await drained(response, signal)
  }
}

function objectOf(event: Exclude<WatchEvent, { type: 'ERROR' }>, kind: RegistrationKind): Served {
  if (event.type === 'BOOKMARK') {
    return bookmark(kind, event)
  }
  return { object: event.object, text: formatJson(event.object) }
}

function line(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
