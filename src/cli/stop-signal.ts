/**
 * When a long-running command is to stop: on a signal, or when the process that started it is gone
 * (hack/node-runtime.mjs and parts/syncer-process.ts open a channel for that).
 */

/** What may keep a stopping process alive for a while longer; after that it is ended. */
const STOPS_WITHIN_MILLISECONDS = 4800

/**
 * Aborted once, by whatever comes first. From then on the process has 5 seconds, and what it is
 * granted besides: something that hangs must not keep it alive.
 */
export function stopSignal({ graceSeconds = 0 } = {}): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) return
    setTimeout(() => process.exit(1), STOPS_WITHIN_MILLISECONDS + graceSeconds * 1000).unref()
    controller.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  if (process.channel) {
    process.on('disconnect', stop)
    // The channel is for noticing its end only: it must not keep the process alive.
    process.channel.unref()
  }
  return controller.signal
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
