/** The key file that all processes of an installation share: 32 bytes in base64. */
import { readFileSync } from 'node:fs'
import { createKeyring, KEY_BYTES, type Keyring, newKey } from '../../keyring.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { createFile } from './create-file.ts'

/** @param onMissing - `create` for a file of our own; a file that the user named must exist. */
export function readEncryptionKey(path: string, onMissing: 'create' | 'fail'): Buffer {
  try {
    if (onMissing === 'create') createFile(path, () => toText(newKey()))
  } catch (error) {
    throw cannotUse(path, messageOf(error), error)
  }
  return parse(path, readKeyFile(path))
}

export function keyringFrom(path: string, onMissing: 'create' | 'fail'): Keyring {
  return createKeyring(readEncryptionKey(path, onMissing))
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw cannotUse(path, messageOf(error), error)
  }
}

function parse(path: string, text: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === KEY_BYTES) return key
  throw cannotUse(path, `it must hold ${KEY_BYTES} bytes in base64 (openssl rand -base64 32)`)
}

function toText(key: Buffer): string {
  return `${key.toString('base64')}\n`
}

function cannotUse(path: string, why: string, cause?: unknown): CommandFailure {
  return new CommandFailure(`cannot use the encryption key file ${path}: ${why}`, { cause })
}
