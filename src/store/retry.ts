/** Runs a transaction again when PostgreSQL says that it failed only because of its neighbours. */
import { setTimeout as delay } from 'node:timers/promises'

/** Serialization failure, and deadlock. */
const RETRIED = new Set(['40001', '40P01'])
const ATTEMPTS = 6
const FIRST_PAUSE_MILLISECONDS = 20

export async function retried<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === ATTEMPTS || !RETRIED.has(sqlStateOf(error))) throw error
      // Random, so that two that met once do not meet again.
      await delay(FIRST_PAUSE_MILLISECONDS * 2 ** attempt * (0.5 + Math.random()))
    }
  }
}

/** `''` when the error has none. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
