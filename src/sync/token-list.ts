/** The distinct search tokens of one object, gathered without a bigint for each. */
import type { Hash64 } from '../kube/search-token.ts'

const FIRST_TOKENS = 256

export class TokenList {
  /** Low and high half of each token, which is how a little-endian int8 lies in memory. */
  #halves = new Int32Array(FIRST_TOKENS * 2)
  #length = 0
  /** A hash table of places in the list above, each one more than it is: 0 is free. */
  #slots = new Int32Array(FIRST_TOKENS * 4)

  clear(): void {
    this.#length = 0
    this.#slots.fill(0)
  }

  add(token: Hash64): void {
    const halves = this.#halves
    const slots = this.#slots
    const { hi, lo } = token
    const mask = slots.length - 1
    let slot = lo & mask
    for (let place = slots[slot]!; place !== 0; place = slots[slot]!) {
      if (halves[place - 1] === lo && halves[place] === hi) return
      slot = (slot + 1) & mask
    }
    slots[slot] = this.#length + 1
    halves[this.#length++] = lo
    halves[this.#length++] = hi
    if (this.#length === halves.length) this.#grow()
  }

  #grow(): void {
    const tokens = this.#halves
    this.#halves = new Int32Array(tokens.length * 2)
    this.#slots = new Int32Array(this.#slots.length * 2)
    this.#length = 0
    for (let i = 0; i < tokens.length; i += 2) this.add({ lo: tokens[i]!, hi: tokens[i + 1]! })
  }

  /** In the order in which they were first added. */
  toArray(): BigInt64Array {
    return new BigInt64Array(this.#halves.buffer.slice(0, this.#length * 4))
  }
}
