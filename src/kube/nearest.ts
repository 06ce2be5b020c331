/** Which of the known words someone probably meant. */

/** Undefined when none is close enough to be a misspelling. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const most = Math.max(2, Math.floor(word.length / 6))
  let best: { readonly text: string; readonly distance: number } | undefined
  for (const text of known) {
    const distance = editDistance(word.toLowerCase(), text.toLowerCase())
    if (distance <= most && (!best || distance < best.distance)) best = { text, distance }
  }
  return best?.text
}

/** `: did you mean "clusters"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const text = nearest(word, known)
  return text === undefined ? '' : `: did you mean ${JSON.stringify(text)}?`
}

/** Insertions, deletions and replacements that make one text of the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
