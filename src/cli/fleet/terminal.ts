/** What a person at a terminal gets to see: colours, how far a sweep is, what was not seen and why. */
import pc from 'picocolors'
import type { Paint } from '../../fleet/render-text.ts'
import type { UnseenOf } from '../../fleet/sweep.ts'
import { unseenLines } from './unseen-text.ts'

/** Colours carry no meaning of their own: the word they colour says it. */
export function paintFor(stream: { readonly isTTY?: boolean }, noColor: boolean): Paint {
  const colors = pc.createColors(stream.isTTY === true && !noColor)
  const color = {
    pass: colors.green,
    fail: colors.red,
    inconclusive: colors.yellow,
    unreachable: colors.magenta,
  }
  return (word, padded) => color[word](padded)
}

/**
 * A person is told why something was not seen; a pipe only on request, and then in full: what is
 * beside a report of CI is kept like the report.
 */
export function showUnseen(
  stream: { readonly isTTY?: boolean; write(text: string): unknown },
  unseen: readonly UnseenOf[],
  { why }: { readonly why: boolean },
): void {
  if (!why && stream.isTTY !== true) return
  for (const line of unseenLines(unseen, { inFull: why })) stream.write(`${line}\n`)
}

export interface Progress {
  (done: number): void
  /** Leaves no trace. */
  clear(): void
}

export function progressOn(
  stream: { readonly isTTY?: boolean; write(text: string): unknown },
  total: number,
): Progress {
  const isShown = stream.isTTY === true
  const show = (done: number) => {
    if (isShown) stream.write(`\rchecked ${done} of ${total} clusters\x1b[K`)
  }
  show(0)
  return Object.assign(show, {
    clear: () => {
      if (isShown) stream.write('\r\x1b[K')
    },
  })
}
