/** `a,b,c + 2 more...`: lists that would be too long for a cell. */

/** How many are shown. */
const SHOWN = 3

/** @param total - How many there are; only the first of them need to be in `list`. */
export function shortenedList(list: readonly string[], total: number = list.length): string {
  const shown = list.slice(0, SHOWN).join(',')
  return total > SHOWN ? `${shown} + ${total - SHOWN} more...` : shown
}
