/**
 * One server to a data directory: a file that names the process which has it.
 *
 * A process id alone proves nothing after a crash, because another program may have it by now. So
 * the file also says when that process started, and counts only while both are true.
 */
import { execFileSync } from 'node:child_process'
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure, hasCode, messageOf } from '../failure.ts'

export interface DirectoryLock {
  release(): void
}

/** Whether a running process has this directory. */
export function isLocked(dataDir: string): boolean {
  const held = readLock(join(dataDir, 'lock'))
  return held !== undefined && livingHolder(held) !== undefined
}

/** @throws CommandFailure when a running process has it, or no file can be made in it. */
export function lockDirectory(dataDir: string): DirectoryLock {
  try {
    return takeLock(dataDir)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const why = messageOf(error)
    throw new CommandFailure(`cannot make the file lock in ${dataDir}: ${why}`, { cause: error })
  }
}

function takeLock(dataDir: string): DirectoryLock {
  const path = join(dataDir, 'lock')
  const ours = `${process.pid} ${startOf(process.pid)}\n`
  const beside = `${path}.${process.pid}`
  writeFileSync(beside, ours)
  try {
    // A second round only when another start was quicker in taking over from a dead process.
    for (let round = 0; round < 10; round++) {
      if (create(beside, path)) return { release: () => release(path, ours) }
      const held = readLock(path)
      const holder = held === undefined ? undefined : livingHolder(held)
      if (holder) throw inUse(dataDir, holder)
      if (held !== undefined) removeStale(path, held)
    }
    throw inUse(dataDir)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** A hard link is made by one of several starters, and holds the whole text from the first moment. */
function create(beside: string, path: string): boolean {
  try {
    linkSync(beside, path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

function removeStale(path: string, stale: string): void {
  const aside = `${path}.stale.${process.pid}`
  try {
    renameSync(path, aside)
    // What was moved may be the lock of a start that was quicker: it goes back.
    if (readLock(aside) !== stale) create(aside, path)
    unlinkSync(aside)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

function release(path: string, ours: string): void {
  if (readLock(path) === ours) rmSync(path, { force: true })
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function livingHolder(text: string): number | undefined {
  const [pid = '', ...start] = text.trim().split(' ')
  return startOf(Number(pid)) === start.join(' ') ? Number(pid) : undefined
}

/** When a process started, in whatever words the system has; undefined when it does not run. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    }
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces; after it, the state is field 3 and the start 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : `${boot}/${fields[19]}`
  } catch {
    return undefined // No such process.
  }
}

function inUse(dataDir: string, pid?: number): CommandFailure {
  const who = pid ? ` (process ${pid})` : ''
  return new CommandFailure(`${dataDir} is in use by a fleetglass that is running${who}`)
}
