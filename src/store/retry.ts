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

/**
 * Classes 08 (connection) and 57P (the server is going or coming), a read-only server, and 40001:
 * what a standby says when replay needs rows that a query still reads. Names in capitals are
 * Node's; the sentences are those of pg, which has no codes for them.
 */
const INTERRUPTION = /^(?:08...|57P0.|25006|40001|40P01|ECONN.*|EPIPE|ETIMEDOUT|EHOSTUNREACH)$/
const INTERRUPTION_MESSAGE = /^(?:Connection terminated|Query read timeout|Client has encountered)/

/** Whether a read that failed so can be asked again, of this server or the one that comes after it. */
export function isInterruption(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return INTERRUPTION.test(sqlStateOf(error)) || INTERRUPTION_MESSAGE.test(error.message)
}

/** `''` when the error has none. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
