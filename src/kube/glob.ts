/**
 * The glob of flags that select by name: `*` is any run of characters, `/` included, `?` is one
 * Unicode code point, all else is itself.
 */

/**
 * True when the pattern covers the whole text.
 *
 * Only the last star is ever tried again, so a pattern of many cannot make this slow: the text may
 * be whatever a reader puts into a path.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const wanted = [...pattern]
  const given = [...text]
  let at = 0
  let star = -1
  let resume = 0
  let i = 0
  while (i < given.length) {
    // A star first: a text may hold one too, and would use up the pattern's.
    if (wanted[at] === '*') {
      star = at++
      resume = i
    } else if (wanted[at] === '?' || (at < wanted.length && wanted[at] === given[i])) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++resume
    } else return false
  }
  return wanted.slice(at).every((character) => character === '*')
}
