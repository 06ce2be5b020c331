/** How many bytes an answer had, for the log and the metrics. */
import type { FastifyRequest } from 'fastify'

const writtenBefore = new WeakMap<FastifyRequest, number>()

/** To be called when a request begins; one at a time is answered on a connection. */
export function beginAnswer(request: FastifyRequest): void {
  writtenBefore.set(request, request.raw.socket.bytesWritten)
}

/** With its head; undefined where there is no connection. */
export function answerBytes(request: FastifyRequest): number | undefined {
  const before = writtenBefore.get(request)
  const now = request.raw.socket.bytesWritten
  return before === undefined || now === undefined ? undefined : now - before
}
