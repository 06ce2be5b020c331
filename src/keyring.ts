/**
 * What one secret key is good for: credentials encrypted at rest, digests in place of secrets.
 *
 * Every process of an installation holds the same key (`--encryption-key-file`). Each use has a
 * subkey of its own (HKDF, RFC 5869), so that a digest tells nothing about the encryption.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

export const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface Keyring {
  /** AES-256-GCM. `context` is bound to the text: what was sealed for one object opens for no other. */
  seal(plain: Uint8Array, context: string): Buffer
  /** @throws when the key, the context or the bytes are not those of `seal`. */
  open(sealed: Uint8Array, context: string): Buffer
  /** `hmac-sha256:<hex>` of a secret value: equal values have equal digests, over the whole fleet. */
  digest(value: Uint8Array): string
}

/** @param key - exactly 32 random bytes. */
export function createKeyring(key: Uint8Array): Keyring {
  if (key.length !== KEY_BYTES) throw new RangeError(`an encryption key has ${KEY_BYTES} bytes`)
  const subkey = (use: string) => Buffer.from(hkdfSync('sha256', key, '', `fleetglass ${use}`, 32))
  const sealing = subkey('credentials')
  const digesting = subkey('secret digests')
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed, context) {
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', sealing, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const body = sealed.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()])
    },
    digest: (value) => `hmac-sha256:${createHmac('sha256', digesting).update(value).digest('hex')}`,
  }
}

export function newKey(): Buffer {
  return randomBytes(KEY_BYTES)
}
