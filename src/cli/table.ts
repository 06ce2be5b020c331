/** Columns of text as kubectl aligns them: three spaces between, none at the end of a line. */
export function formatTable(
  headers: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
): string {
  const lines = [headers, ...rows]
  const widths = headers.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? '').length)),
  )
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd()
  return `${lines.map(format).join('\n')}\n`
}
