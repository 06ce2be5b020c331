/** What stands in a mirrored Secret in place of its values: keyed digests, base64 like the values. */
import type { Keyring } from '../keyring.ts'
import { QUOTE, stringOf } from './json-bytes.ts'

/** A function from a value's JSON text to the JSON text that is stored instead. */
export function digestSecretValue(keyring: Pick<Keyring, 'digest'>) {
  return (value: Buffer, member: 'data' | 'stringData'): Buffer => {
    const digest = keyring.digest(secretBytes(value, member))
    return Buffer.from(`"${Buffer.from(digest).toString('base64')}"`)
  }
}

/** The secret itself: decoded from base64, so that it equals the same text in `stringData`. */
function secretBytes(value: Buffer, member: 'data' | 'stringData'): Buffer {
  if (value[0] !== QUOTE) return value
  const text = stringOf(value, { start: 0, end: value.length })
  return Buffer.from(text, member === 'data' ? 'base64' : 'utf8')
}
