/** Orders that do not depend on a locale: answers are the same wherever they are made. */

/** By UTF-8 bytes, which is by code points. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

export function sortedTexts(texts: Iterable<string>): readonly string[] {
  return [...texts].sort(compareBytes)
}

export function sortedBy<T>(items: Iterable<T>, text: (item: T) => string): readonly T[] {
  return [...items].sort((a, b) => compareBytes(text(a), text(b)))
}
