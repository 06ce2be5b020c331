/** One listener on the store for all that follow registrations in this process. */
import type { Store } from '../store/connect.ts'
import { onRegistrationWrite } from '../store/registration-feed.ts'

/**
 * A promise of the next write after the call; also fulfilled after so many milliseconds, when the
 * follower's signal is aborted, and sometimes for nothing.
 */
export type Wake = (milliseconds?: number) => Promise<void>

export interface Wakes {
  subscribe(signal: AbortSignal): Wake
  close(): Promise<void>
}

export function createWakes(store: Store): Wakes {
  const waiting = new Set<() => void>()
  let listening: ReturnType<typeof onRegistrationWrite> | undefined
  const wakeAll = () => {
    for (const wake of waiting) wake()
  }
  return {
    subscribe(signal) {
      listening ??= onRegistrationWrite(store, wakeAll)
      return (milliseconds) => nextWake(waiting, signal, milliseconds)
    },
    async close() {
      const stop = await listening
      await stop?.()
      wakeAll()
    },
  }
}

function nextWake(
  waiting: Set<() => void>,
  signal: AbortSignal,
  milliseconds: number | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(wake, milliseconds)
    timer?.unref()
    function wake() {
      clearTimeout(timer)
      waiting.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    waiting.add(wake)
    if (signal.aborted) wake()
    else signal.addEventListener('abort', wake)
  })
}
