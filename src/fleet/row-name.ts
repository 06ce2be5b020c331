/** A name from a fleet file, made safe to print: it must not move the cursor or hide another name. */

const MOST_CODE_POINTS = 512
const MOST_MARKS = 4

/** `''` when nothing is left of it. */
export function sanitiseName(name: string): string {
  const spaced = name
    .toWellFormed()
    .replaceAll(/[\t\n\v\f\r\u2028\u2029]/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
  const trimmed = limitMarks(spaced).trim()
  const points = [...trimmed]
  if (points.length <= MOST_CODE_POINTS) return trimmed
  return `${points.slice(0, MOST_CODE_POINTS - 1).join('')}…`
}

/** A tower of combining marks covers the lines around it. */
function limitMarks(text: string): string {
  let marks = 0
  let kept = ''
  for (const point of text) {
    marks = /\p{M}/u.test(point) ? marks + 1 : 0
    if (marks <= MOST_MARKS) kept += point
  }
  return kept
}
