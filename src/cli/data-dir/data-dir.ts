/** The folder in which one installation keeps what must survive it. */
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CommandFailure, messageOf } from '../failure.ts'

/** Makes it when it is missing; returns its absolute path. */
export function prepareDataDir(given: string): string {
  const path = resolve(given)
  try {
    // Others may pass through it, because the database's user must; each secret file is 0600.
    mkdirSync(path, { recursive: true, mode: 0o711 })
  } catch (error) {
    throw new CommandFailure(`cannot make the data directory ${path}: ${messageOf(error)}`)
  }
  return path
}

/** For commands that work on an installation that is there. */
export function existingDataDir(given: string): string {
  const path = resolve(given)
  if (existsSync(join(path, 'encryption-key'))) return path
  throw new CommandFailure(
    `${path} is not the data directory of a fleetglass: give --data-dir as you gave it to serve`,
  )
}

export function keyFileIn(dataDir: string): string {
  return join(dataDir, 'encryption-key')
}
