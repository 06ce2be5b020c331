/**
 * `fleetglass backup` and `restore`: registrations, rights, tokens and the encryption key in one file.
 *
 * The mirror itself is not in it: the members still have what it holds.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import { createKeyring, KEY_BYTES } from '../../keyring.ts'
import { createLogger } from '../../log.ts'
import {
  RestoreRefused,
  restoreState,
  type SavedState,
  saveState,
} from '../../registration/saved-state.ts'
import { existingDataDir, keyFileIn, prepareDataDir } from '../data-dir/data-dir.ts'
import { readEncryptionKey } from '../data-dir/encryption-key.ts'
import { isLocked } from '../data-dir/lock.ts'
import { replaceFile } from '../data-dir/write-file.ts'
import { CommandFailure, hasCode, messageOf } from '../failure.ts'
import { withStore } from '../parts/with-store.ts'
import { addSettings, readSettings } from '../setting-options.ts'

const TAKES = ['dataDir', 'databaseUrl', 'encryptionKeyFile', 'logLevel'] as const
const KIND = 'fleetglass backup'
const FORMAT = 1

interface Backup extends SavedState {
  readonly kind: typeof KIND
  readonly format: number
  /** Base64. */
  readonly encryptionKey: string
}

export function defineBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('write registrations, rights, tokens and the encryption key to a file')
    .requiredOption('--out <FILE>', 'the file to make; it holds secrets')
  addSettings(command, TAKES).action(async () => {
    await backup(readSettings(command, TAKES), resolve(command.opts().out))
  })
}

export function defineRestore(program: Command): void {
  const command = program
    .command('restore <FILE>')
    .description('read a backup into an installation that has no registrations yet')
  addSettings(command, TAKES).action(async (file: string) => {
    await restore(readSettings(command, TAKES), resolve(file))
  })
}

type Settings = Config<(typeof TAKES)[number]>

async function backup(config: Settings, out: string): Promise<void> {
  if (existsSync(out)) throw new CommandFailure(`${out} is there already; it is not overwritten`)
  const dataDir = config.encryptionKeyFile
    ? resolve(config.dataDir)
    : existingDataDir(config.dataDir)
  const key = readEncryptionKey(config.encryptionKeyFile ?? keyFileIn(dataDir), 'fail')
  const log = createLogger(config.logLevel)
  const state = await withStore({ databaseUrl: config.databaseUrl, dataDir, log }, saveState)
  const written: Backup = {
    kind: KIND,
    format: FORMAT,
    encryptionKey: key.toString('base64'),
    ...state,
  }
  writeNew(out, `${JSON.stringify(written, null, 2)}\n`)
  const what = whatIsIn(state)
  console.log(`${what} and the encryption key are in ${out}: keep it as you keep a password`)
}

function writeNew(path: string, text: string): void {
  try {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, text)
    fsyncSync(file)
    closeSync(file)
  } catch (error) {
    const why = hasCode(error, 'EEXIST') ? 'it is there already' : messageOf(error)
    throw new CommandFailure(`cannot write ${path}: ${why}`)
  }
}

async function restore(config: Settings, path: string): Promise<void> {
  const saved = readBackup(path)
  const key = Buffer.from(saved.encryptionKey, 'base64')
  const dataDir = prepareDataDir(config.dataDir)
  const keyFile = config.encryptionKeyFile ?? keyFileIn(dataDir)
  const hasKey = existsSync(keyFile) && readEncryptionKey(keyFile, 'fail').equals(key)
  if (!hasKey && isLocked(dataDir)) {
    throw new CommandFailure(`a fleetglass with another key runs on ${dataDir}; stop it first`)
  }
  if (!hasKey && config.encryptionKeyFile && existsSync(keyFile)) {
    throw new CommandFailure(`${keyFile} holds another key than the backup; it is not overwritten`)
  }
  const log = createLogger(config.logLevel)
  const keyring = createKeyring(key)
  // The store is empty until now, so nothing was sealed with a key that this replaces.
  const beforeCommit = () => {
    if (!hasKey) replaceFile(keyFile, `${saved.encryptionKey}\n`)
  }
  await withStore({ databaseUrl: config.databaseUrl, dataDir, log }, (store) =>
    restoreState({ store, keyring, beforeCommit }, saved).catch((error: unknown) => {
      throw error instanceof RestoreRefused ? refused(path, error.message) : error
    }),
  )
  console.log(`restored ${whatIsIn(saved)}`)
}

/** `2 objects and 1 token`. */
function whatIsIn({ registrations, accessTokens }: Pick<Backup, 'registrations' | 'accessTokens'>) {
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`
  return `${count(registrations.length, 'object')} and ${count(accessTokens.length, 'token')}`
}

function readBackup(path: string): Backup {
  const read = parseBackup(path)
  const { kind, format, encryptionKey, registrations, accessTokens } = read
  if (kind !== KIND) throw refused(path, 'it is not a backup of fleetglass')
  if (format !== FORMAT) throw refused(path, `its format ${format} is not known to this release`)
  const isWhole = Array.isArray(registrations) && Array.isArray(accessTokens)
  const keyBytes = Buffer.from(String(encryptionKey), 'base64').length
  if (!isWhole || keyBytes !== KEY_BYTES) throw refused(path, 'it is damaged')
  return read as Backup
}

function parseBackup(path: string): Partial<Backup> {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof read === 'object' && read !== null ? read : {}
  } catch (error) {
    // What JSON.parse says quotes the text, and the text holds secrets.
    const why = error instanceof SyntaxError ? 'it is not a backup of fleetglass' : messageOf(error)
    throw refused(path, why)
  }
}

function refused(path: string, why: string): CommandFailure {
  return new CommandFailure(`nothing was restored from ${path}: ${why}`)
}
