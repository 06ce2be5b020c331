/**
 * A sentence as the value of a `Warning` header, which kubectl prints.
 *
 * @see RFC 7234, section 5.5: code 299, no agent, a quoted string; a header holds visible ASCII only.
 */
function warningHeader(text: string): string {
  const ascii = text.replace(/\s+/g, ' ').replace(/[^\x20-\x7e]/g, '?')
  return `299 - "${ascii.replace(/[\\"]/g, '\\$&')}"`
}

const TOTAL_MOST_CHARACTERS = 4096
const CUT_CHARACTERS = 256

/**
 * As many as clients and proxies take: each whole while all fit, else each cut, and those that fit.
 *
 * @see apiserver/pkg/endpoints/filters/warning.go
 */
export function warningHeaders(texts: readonly string[]): readonly string[] {
  const distinct = [...new Set(texts)]
  const whole = distinct.reduce((sum, text) => sum + text.length, 0) <= TOTAL_MOST_CHARACTERS
  const shown = whole ? distinct : distinct.map((text) => text.slice(0, CUT_CHARACTERS))
  let room = TOTAL_MOST_CHARACTERS
  const fits = (text: string) => {
    room -= text.length
    return room >= 0
  }
  return shown.filter(fits).map(warningHeader)
}
