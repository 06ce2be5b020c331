/**
 * A sentence as the value of a `Warning` header, which kubectl prints.
 *
 * @see RFC 7234, section 5.5: code 299, no agent, a quoted string; a header holds visible ASCII only.
 */
export function warningHeader(text: string): string {
  const ascii = text.replace(/\s+/g, ' ').replace(/[^\x20-\x7e]/g, '?')
  return `299 - "${ascii.replace(/[\\"]/g, '\\$&')}"`
}
