/** A name or value as it stands in a message: what Go's %q makes of a text without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
