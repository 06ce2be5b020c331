/** Orders that do not depend on a locale: answers are the same wherever they are made. */
import { compareBytes } from '../kube/byte-order.ts'

export function sortedTexts(texts: Iterable<string>): readonly string[] {
  return [...texts].sort(compareBytes)
}

export function sortedBy<T>(items: Iterable<T>, text: (item: T) => string): readonly T[] {
  return [...items].sort((a, b) => compareBytes(text(a), text(b)))
}
