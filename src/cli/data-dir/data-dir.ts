/** The folder in which one installation keeps what must survive it. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure, messageOf } from '../failure.ts'

/** Makes it when it is missing; returns its absolute path. */
export function prepareDataDir(given: string): string {
  const path = resolve(given)
  try {
    makeFolder(path)
    if (!statSync(path).isDirectory()) throw new Error('it is a file')
  } catch (error) {
    throw new CommandFailure(`cannot make the data directory ${path}: ${messageOf(error)}`)
  }
  return path
}

/**
 * With its parents. Not by Node's `recursive`, which never returns where a parent exists and nothing
 * can be made in it (`/proc`).
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  // Others may pass through it, because the database's user must; each secret file is 0600.
  try {
    mkdirSync(path, { mode: 0o711 })
  } catch (error) {
    // Made by another that starts at the same time: which of them may have it is decided by its lock.
    if (!existsSync(path)) throw error
  }
}

/** For commands that work on an installation that is there. */
export function existingDataDir(given: string): string {
  const path = resolve(given)
  if (existsSync(keyFileIn(path))) return path
  throw new CommandFailure(
    `${path} is not the data directory of a fleetglass: give --data-dir as you gave it to serve`,
  )
}

export function keyFileIn(dataDir: string): string {
  return join(dataDir, 'encryption-key')
}
