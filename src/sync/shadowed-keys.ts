/**
 * Finds keys that occur twice in one object. JSON parsers take the last; so do the tokens.
 *
 * Keys are compared by the hash of their path: equal strings have equal hashes however they are
 * escaped, and unequal ones a chance of 1 in 10^14.
 */
import type { Hash64 } from '../kube/search-token.ts'

/** Up to here, comparing each with each is faster than a map. */
const FEW = 24

export class ShadowedKeys {
  /** Of all open objects, one behind the other: high half, low half, place of the key. */
  #keys = new Int32Array(768)
  #length = 0
  /** Where the keys of each open object begin in the list above. */
  readonly #opened: number[] = []
  readonly #shadowed = new Set<number>()

  clear(): void {
    this.#length = 0
    this.#opened.length = 0
    this.#shadowed.clear()
  }

  get any(): boolean {
    return this.#shadowed.size > 0
  }

  /** Whether a later equal key was found for the key at byte `at`. */
  isShadowed(at: number): boolean {
    return this.#shadowed.size > 0 && this.#shadowed.has(at)
  }

  open(): void {
    this.#opened.push(this.#length)
  }

  add(path: Hash64, at: number): void {
    if (this.#length === this.#keys.length) this.#grow()
    this.#keys[this.#length] = path.hi
    this.#keys[this.#length + 1] = path.lo
    this.#keys[this.#length + 2] = at
    this.#length += 3
  }

  #grow(): void {
    const larger = new Int32Array(this.#keys.length * 2)
    larger.set(this.#keys)
    this.#keys = larger
  }

  close(): void {
    const from = this.#opened.pop()!
    const count = (this.#length - from) / 3
    if (count > FEW) this.#compareByMap(from)
    else if (count > 1) this.#compareAll(from)
    this.#length = from
  }

  #compareAll(from: number): void {
    const keys = this.#keys
    for (let i = from; i < this.#length; i += 3) {
      const lo = keys[i + 1]
      for (let j = i + 3; j < this.#length; j += 3) {
        if (keys[j + 1] === lo && keys[i] === keys[j]) this.#shadowed.add(keys[i + 2]!)
      }
    }
  }

  #compareByMap(from: number): void {
    const keys = this.#keys
    const places = new Map<string, number>()
    for (let i = from; i < this.#length; i += 3) {
      const hash = `${keys[i]} ${keys[i + 1]}`
      const before = places.get(hash)
      if (before !== undefined) this.#shadowed.add(before)
      places.set(hash, keys[i + 2]!)
    }
  }
}
