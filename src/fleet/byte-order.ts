/** The order of all names in reports: by their UTF-8 bytes, whatever the locale. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
