/** What only a person at a terminal gets to see: colours, and how far a sweep is. */
import pc from 'picocolors'
import type { Paint } from '../../fleet/render-text.ts'

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
