/** A growing list of search tokens, filled without a bigint for each. */
import type { Hash64 } from '../kube/search-token.ts'

export class TokenList {
  /** Low and high half of each token, which is how a little-endian int8 lies in memory. */
  #halves = new Uint32Array(512)
  #length = 0

  clear(): void {
    this.#length = 0
  }

  add(token: Hash64): void {
    if (this.#length === this.#halves.length) this.#grow()
    this.#halves[this.#length++] = token.lo
    this.#halves[this.#length++] = token.hi
  }

  #grow(): void {
    const larger = new Uint32Array(this.#halves.length * 2)
    larger.set(this.#halves)
    this.#halves = larger
  }

  /** Sorted, without duplicates. */
  toSorted(): BigInt64Array {
    const all = new BigInt64Array(this.#halves.slice(0, this.#length).buffer).sort()
    const halves = new Uint32Array(all.buffer)
    let kept = 0
    for (let i = 0; i < halves.length; i += 2) {
      const same = kept > 0 && halves[i] === halves[kept - 2] && halves[i + 1] === halves[kept - 1]
      if (same) continue
      halves[kept++] = halves[i]!
      halves[kept++] = halves[i + 1]!
    }
    return all.slice(0, kept / 2)
  }
}
