/**
 * The order of names, whatever the locale: by their UTF-8 bytes, as Go and COLLATE "C" compare.
 * JavaScript's own order, by UTF-16 code units, is another one beyond U+FFFF.
 */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}
