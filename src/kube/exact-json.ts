/** JSON whose integers keep their digits from reading to writing, also beyond 2^53. */

/** `JSON.rawJSON` and the third argument are in V8 and not yet in the library's types. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/**
 * JSON.parse; what a double cannot hold becomes an object that JSON.stringify writes as it was read.
 *
 * @throws SyntaxError
 */
export function parseExactly(bytes: Buffer): unknown {
  const text = bytes.toString()
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }) {
  const isExact = typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return isExact || source === undefined ? value : rawJSON(source)
}
