/**
 * Files that others replace while we run: certificates, CAs.
 *
 * They are read again every few seconds, not waited for by the file system: what kubelet mounts are
 * links that are swapped, and watches of those go quiet.
 */
import { readFileSync } from 'node:fs'
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import { CommandFailure, messageOf } from '../failure.ts'

const READ_EVERY_MILLISECONDS = 10_000

export interface WatchedFilesParts<T> {
  readonly paths: readonly string[]
  /** Of the files' texts, in that order. @throws Error when they are not what they should be. */
  readonly parse: (...texts: readonly string[]) => T
  readonly changed?: (value: T) => void
  readonly clock: Clock
  readonly log: Logger
}

export interface WatchedFiles<T> {
  /** Of the last texts that could be used. */
  readonly current: T
  stop(): Promise<void>
}

type FilesToRead<T> = Pick<WatchedFilesParts<T>, 'paths' | 'parse'>

/** Once. @throws CommandFailure naming the files, when they cannot be used. */
export function readFiles<T>(files: FilesToRead<T>): T {
  return readFirst(files).value
}

function readFirst<T>({ paths, parse }: FilesToRead<T>) {
  return orSayWhich(paths, () => {
    const texts = textsOf(paths)
    return { texts, value: parse(...texts) }
  })
}

function textsOf(paths: readonly string[]): readonly string[] {
  return paths.map((path) => readFileSync(path, 'utf8'))
}

/** @throws CommandFailure naming the files, when they cannot be used at the start. */
export function watchFiles<T>(parts: WatchedFilesParts<T>): WatchedFiles<T> {
  const { paths, parse, clock, log } = parts
  let { texts, value } = readFirst(parts)
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(READ_EVERY_MILLISECONDS, stopping.signal).catch(() => undefined)
      if (!stopping.signal.aborted) look()
    }
  })()
  return {
    get current() {
      return value
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }

  function look(): void {
    try {
      const next = textsOf(paths)
      if (next.every((text, i) => text === texts[i])) return
      // A certificate and its key are two files: between the writes they do not belong together.
      value = parse(...next)
      texts = next
      parts.changed?.(value)
      log.info({ files: paths }, 'files were read again')
    } catch (error) {
      log.warn({ files: paths, why: messageOf(error) }, 'files cannot be used; the last ones hold')
    }
  }
}

function orSayWhich<T>(paths: readonly string[], work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new CommandFailure(`cannot use ${paths.join(' and ')}: ${messageOf(error)}`)
  }
}
