/**
 * The 64-bit tokens under which an object can be found: one per label, label key, field value and
 * word (search-words.ts).
 *
 * The writer makes them in one pass over an object's bytes (sync/scan-object.ts), a reader makes
 * the few it looks for (store/). Both must agree to the bit, so both come here.
 *
 * A token is a hash of (type, path, value); list indexes are collapsed, so that
 * `spec.containers[].name` has one token per distinct name. 64 bits make a false match a matter
 * of 1 in 10^14, which is why an answer needs no recheck. Changing anything here changes stored
 * data: raise TOKEN_VERSION, which makes stored rows be made again.
 */

export const TOKEN_VERSION = 2

/** Two lanes of 32 bits, each a signed integer: hashing needs no bigint, and allocates nothing. */
export interface Hash64 {
  hi: number
  lo: number
}

// Two multiply-xor lanes with different constants (MurmurHash3's), crossed at the end.
const SEED_HI = 0x9e3779b9 | 0
const SEED_LO = 0x85ebca6b | 0

/** Hashes `bytes[start, end)`, starting from `seed`. Writes into `out` to spare an allocation. */
export function hashBytes(
  bytes: Uint8Array,
  range: { start: number; end: number },
  io: { seed: Hash64; out: Hash64 },
): void {
  let hi = io.seed.hi | 0
  let lo = io.seed.lo | 0
  for (let i = range.start; i < range.end; i++) {
    const byte = bytes[i]!
    hi = Math.imul(hi ^ byte, 0xcc9e2d51)
    hi = (hi << 15) | (hi >>> 17)
    lo = Math.imul(lo ^ byte, 0x1b873593)
    lo = (lo << 13) | (lo >>> 19)
  }
  finish(hi, lo, io.out)
}

/**
 * Hashes a JSON string from `start`, one past its opening quote, to its closing quote: one pass for
 * finding its end and hashing it.
 *
 * @returns where the closing quote is; -1 when an escape, a control character or the end of the
 *   bytes comes first: then nothing is hashed.
 */
export function hashString(
  bytes: Uint8Array,
  start: number,
  io: { seed: Hash64; out: Hash64 },
): number {
  return hashToQuote(bytes, start, { hi: io.seed.hi | 0, lo: io.seed.lo | 0, out: io.out })
}

/** As {@link hashString}, for a key: {@link childPath} of it. */
export function hashKey(
  bytes: Uint8Array,
  start: number,
  io: { seed: Hash64; out: Hash64 },
): number {
  // The dot in front of a key, taken in by the same steps as hashBytes takes any byte.
  const hi = Math.imul(io.seed.hi ^ 0x2e, 0xcc9e2d51)
  const lo = Math.imul(io.seed.lo ^ 0x2e, 0x1b873593)
  return hashToQuote(bytes, start, {
    hi: (hi << 15) | (hi >>> 17),
    lo: (lo << 13) | (lo >>> 19),
    out: io.out,
  })
}

function hashToQuote(
  bytes: Uint8Array,
  start: number,
  from: { hi: number; lo: number; out: Hash64 },
): number {
  const length = bytes.length
  let { hi, lo } = from
  for (let i = start; i < length; i++) {
    const byte = bytes[i]!
    if (byte === 0x22) {
      finish(hi, lo, from.out)
      return i
    }
    if (byte === 0x5c || byte < 0x20) return -1
    hi = Math.imul(hi ^ byte, 0xcc9e2d51)
    hi = (hi << 15) | (hi >>> 17)
    lo = Math.imul(lo ^ byte, 0x1b873593)
    lo = (lo << 13) | (lo >>> 19)
  }
  return -1
}

/** Makes two hashes one, order mattering: what turns a path and a value into a token. */
export function combine(a: Hash64, b: Hash64, out: Hash64): void {
  const hi = Math.imul(a.hi ^ ((b.lo << 7) | (b.lo >>> 25)), 0xe6546b64) ^ b.hi
  const lo = Math.imul(a.lo ^ ((b.hi << 11) | (b.hi >>> 21)), 0xc2b2ae35) ^ b.lo
  finish(hi, lo, out)
}

function finish(hi: number, lo: number, out: Hash64): void {
  hi ^= hi >>> 16
  lo ^= lo >>> 15
  hi = Math.imul(hi + Math.imul(lo, 0x27d4eb2f), 0x85ebca6b)
  lo = Math.imul(lo + Math.imul(hi, 0x165667b1), 0xc2b2ae35)
  hi ^= hi >>> 13
  lo ^= lo >>> 16
  hi = Math.imul(hi + lo, 0x9e3779b1)
  lo = Math.imul(lo ^ hi, 0x85ebca77)
  out.hi = hi ^ (hi >>> 16)
  out.lo = lo ^ (lo >>> 15)
}

const utf8 = new TextEncoder()

function hashText(text: string, seed: Hash64): Hash64 {
  const bytes = utf8.encode(text)
  const out: Hash64 = { hi: 0, lo: 0 }
  hashBytes(bytes, { start: 0, end: bytes.length }, { seed, out })
  return out
}

/** The seed of all tokens of one stored type, made from its name so that databases agree. */
export function typeSeed(type: { readonly group: string; readonly resource: string }): Hash64 {
  return hashText(`${type.group}/${type.resource}`, { hi: SEED_HI, lo: SEED_LO })
}

/** Seed → the hash of an object key under `parent`; the root's parent is the type seed. */
export function childPath(parent: Hash64, key: string): Hash64 {
  return hashText(`.${key}`, parent)
}

/** The hash of "any element" under the list at `parent`. */
export function elementPath(parent: Hash64): Hash64 {
  return hashText('[]', parent)
}

/** Where values start: fixed, so that a value hashes the same at every path. */
export const VALUE_SEED: Readonly<Hash64> = Object.freeze({ hi: 0x2545f491, lo: 0x4f6cdd1d })

/** Token of a field value. `text` is the string itself, or the JSON spelling of another scalar. */
export function fieldToken(path: Hash64, text: string): bigint {
  return tokenOf(path, hashText(text, { ...VALUE_SEED }))
}

/** Path under which label keys are found, for `Exists`; no field path can hash to it. */
export function labelKeyPath(seed: Hash64): Hash64 {
  return hashText('label key', seed)
}

/** Path under which the words of an object are found; no field path can hash to it. */
export function wordPath(seed: Hash64): Hash64 {
  return hashText('word', seed)
}

export function tokenOf(path: Hash64, value: Hash64): bigint {
  const { hi, lo } = hashOf(path, value)
  return (BigInt(hi) << 32n) | BigInt(lo >>> 0)
}

/** The halves of a {@link fieldToken}. */
export function fieldHash(path: Hash64, text: string): Hash64 {
  return hashOf(path, hashText(text, { ...VALUE_SEED }))
}

function hashOf(path: Hash64, value: Hash64): Hash64 {
  const out: Hash64 = { hi: 0, lo: 0 }
  combine(path, value, out)
  return out
}
