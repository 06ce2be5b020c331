/**
 * Why something of a cluster was not seen, in words of a closed list: they name no object, path or
 * address, so they may be printed wherever a report may be.
 */
import { readFailure } from './member-reader.ts'

export const CAUSES = {
  unreachable: 'no connection',
  certificate: 'its certificate is not trusted',
  unauthorized: 'credentials are refused',
  forbidden: 'forbidden',
  'not-found': 'not found',
  expired: 'its pages expire',
  throttled: 'too many requests',
  server: 'the server fails',
  rubbish: 'the answer is not understood',
  timeout: 'timed out',
  'not-mirrored': 'not mirrored',
  'not-listed': 'not mirrored yet',
  'not-in-step': 'the mirror is not in step',
  partial: 'mirrored in part',
  store: 'the store does not tell',
  'no-cluster': 'it serves nothing of what a cluster has',
  'no-cluster-fleetglass': 'it is a fleetglass server: add --source store',
  defect: 'a defect of fleetglass',
} as const

export interface Cause {
  readonly word: keyof typeof CAUSES
  /** What was thrown: its text is for who asks for it, and in no report. */
  readonly error?: unknown
}

/** Thrown with the word for it. */
export class Unseen extends Error {
  override readonly name = 'Unseen'
  readonly word: Cause['word']

  constructor(word: Cause['word']) {
    super(CAUSES[word])
    this.word = word
  }
}

/** @param signal - of the budget that was given. */
export function causeOf(error: unknown, signal?: AbortSignal): Cause {
  if (error instanceof Unseen) return { word: error.word }
  const failure = readFailure(error)
  if (failure !== undefined) return { word: failure, error }
  if (signal?.aborted) return { word: 'timeout' }
  return {
    word: error instanceof Error && error.name === 'StatusError' ? 'store' : 'defect',
    error,
  }
}
