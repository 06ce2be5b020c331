/** JSON.parse that keeps the digits of integers beyond 2^53, as bigint. */

const INTEGER = /^-?\d+$/

/** @param options.bigNumbers - whether a number of 16 digits or more occurs: without one, plain JSON.parse is right and faster. */
export function parseLossless(
  text: string,
  { bigNumbers }: { readonly bigNumbers: boolean },
): unknown {
  if (!bigNumbers) return JSON.parse(text)
  try {
    return JSON.parse(text, keepDigits)
  } catch (error) {
    // A reviver is called level by level, and thousands of levels overflow the stack. What is
    // stored and sent keeps its digits anyway; only a printed cell of such an object may round.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && INTEGER.test(source) ? BigInt(source) : value
}
