/**
 * The time that a list has which goes through a front proxy.
 *
 * kube-aggregator cuts answers off after 60 s, and half a list is no JSON: so it is ended before, as
 * a page with a `continue`; or as a 504, when not one row has come.
 */
import type { FastifyRequest } from 'fastify'
import { StatusError } from '../../kube/status-error.ts'

/** Counts from now on: to be asked for before anything else is waited for. */
export function timeLimitOf(
  { proxiedListMilliseconds: most }: { readonly proxiedListMilliseconds?: number | undefined },
  { throughProxy }: Pick<FastifyRequest, 'throughProxy'>,
): AbortSignal | undefined {
  return throughProxy && most !== undefined ? AbortSignal.timeout(most) : undefined
}

/** @throws {@link StatusError} `Timeout` when the time is over first. */
export async function within<T>(limit: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!limit) return work
  const { promise: over, reject } = Promise.withResolvers<never>()
  const end = () => reject(tookTooLong())
  if (limit.aborted) end()
  limit.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([work, over])
  } finally {
    limit.removeEventListener('abort', end)
    work.catch(() => undefined)
  }
}

/** The answer would have been cut off. */
export function tookTooLong(): StatusError {
  const message =
    'the answer was not ready in the time that it has behind a proxy: narrow it down, or ask this ' +
    'server itself'
  return new StatusError('Timeout', message, { details: {} })
}
