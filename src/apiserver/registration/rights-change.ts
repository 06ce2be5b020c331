/**
 * A watch lasts for up to an hour; rights and tokens may not. It ends when its reader may see other
 * things than when it began, or is nobody any more: who still may, comes back and starts anew.
 */
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { Identity } from '../identity.ts'

export interface RightsParts {
  /** What the reader may do, as a value that is another one when the rights are others. */
  readonly rightsOf: (identity: Identity) => unknown
  readonly clock: Clock
}

const LOOK_EVERY_MILLISECONDS = 5_000

/** Fulfilled when the rights are others, or the signal is aborted. */
export async function rightsChange(
  { rightsOf, clock }: RightsParts,
  request: Pick<FastifyRequest, 'identity' | 'identifyAgain' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const stateOf = (identity: Identity) => JSON.stringify([identity, rightsOf(identity)])
  const before = stateOf(request.identity)
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MILLISECONDS, signal).catch(() => undefined)
    const identity = signal.aborted ? undefined : await identityNow(request)
    if (!identity || stateOf(identity) !== before) return
  }
}

/** Undefined: nobody. A database that does not answer takes nobody's watch away. */
async function identityNow(
  request: Pick<FastifyRequest, 'identity' | 'identifyAgain' | 'log'>,
): Promise<Identity | undefined> {
  try {
    return await request.identifyAgain()
  } catch (error) {
    const isRefused =
      error instanceof StatusError && ['Unauthorized', 'Forbidden'].includes(error.reason)
    if (isRefused) return undefined
    request.log.warn({ err: error }, 'cannot tell whether the reader of a watch is still known')
    return request.identity
  }
}
