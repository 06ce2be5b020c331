/**
 * Finds keys that occur twice in one object. JSON parsers take the last; so do the tokens.
 *
 * Keys are compared by the hash of their path: equal strings have equal hashes however they are
 * escaped, and unequal ones a chance of 1 in 10^14.
 */
import type { Hash64 } from '../kube/search-token.ts'

/** Up to here, comparing each with each is faster than a map. */
const FEW = 12

export class ShadowedKeys {
  /** Of all open objects, one behind the other: high half, low half, place of the key. */
  readonly #keys: number[] = []
  /** Where the keys of each open object begin in the list above. */
  readonly #opened: number[] = []
  readonly #shadowed = new Set<number>()

  get any(): boolean {
    return this.#shadowed.size > 0
  }

  /** Whether a later equal key was found for the key at byte `at`. */
  isShadowed(at: number): boolean {
    return this.#shadowed.size > 0 && this.#shadowed.has(at)
  }

  open(): void {
    this.#opened.push(this.#keys.length)
  }

  add(path: Hash64, at: number): void {
    this.#keys.push(path.hi | 0, path.lo | 0, at)
  }

  close(): void {
    const from = this.#opened.pop()!
    const count = (this.#keys.length - from) / 3
    if (count > FEW) this.#compareByMap(from)
    else if (count > 1) this.#compareAll(from)
    this.#keys.length = from
  }

  #compareAll(from: number): void {
    const keys = this.#keys
    for (let i = from; i < keys.length; i += 3) {
      for (let j = i + 3; j < keys.length; j += 3) {
        if (keys[i + 1] === keys[j + 1] && keys[i] === keys[j]) this.#shadowed.add(keys[i + 2]!)
      }
    }
  }

  #compareByMap(from: number): void {
    const keys = this.#keys
    const places = new Map<string, number>()
    for (let i = from; i < keys.length; i += 3) {
      const hash = `${keys[i]} ${keys[i + 1]}`
      const before = places.get(hash)
      if (before !== undefined) this.#shadowed.add(before)
      places.set(hash, keys[i + 2]!)
    }
  }
}
