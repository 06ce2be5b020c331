/** Tables for a person: columns as kubectl aligns them, and lists that stay short. */
import { printable } from '../kube/printable.ts'

export function table(
  headers: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
): readonly string[] {
  const lines = [headers, ...rows.map((cells) => cells.map(printable))]
  const widths = headers.map((_, column) =>
    Math.max(...lines.map((cells) => [...(cells[column] ?? '')].length)),
  )
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('   ')
      .trimEnd(),
  )
}

const NAMES_SHOWN = 8

/** `a, b, c and 57 more`. */
export function listed(names: readonly string[], most = NAMES_SHOWN): string {
  if (names.length <= most + 1) return names.join(', ')
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}

/** `1 cluster`, `2 clusters`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Long digests are known by their beginning, as Docker shows them. */
export function shortToken(token: string): string {
  return token.replace(/^(sha\d+:[0-9a-f]{12})[0-9a-f]{20,}$/, '$1…')
}
