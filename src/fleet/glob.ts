/**
 * `*` is any run of characters, `/` among them; `?` is one code point. All else is literal, and the
 * whole text must match.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const wanted = [...pattern]
  const given = [...text]
  let at = 0
  let read = 0
  let star = -1
  let readAtStar = 0
  while (read < given.length) {
    if (wanted[at] === '*') {
      star = at++
      readAtStar = read
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[read])) {
      at++
      read++
    } else if (star >= 0) {
      // The last star takes one character more, and all after it is tried again.
      at = star + 1
      read = ++readAtStar
    } else {
      return false
    }
  }
  while (wanted[at] === '*') at++
  return at === wanted.length
}
