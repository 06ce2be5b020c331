/**
 * The file in which a PostgreSQL server says that it runs on a data folder, and what is done about
 * a server that outlived the process that started it.
 *
 * @see the PostgreSQL manual, "Database File Layout", postmaster.pid
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode } from '../failure.ts'

export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly isReady: boolean
}

/** Undefined when no server has said that it runs here. */
export function readPostmaster(dataFolder: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    if (!(pid > 0)) return undefined
    return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Stops a server that still runs on this folder from an earlier start.
 *
 * @returns Its process id, or undefined when there was none. The process id in the file may have
 * been given to another program since: what its command line does not prove is left alone.
 */
export async function stopOrphan(dataFolder: string): Promise<number | undefined> {
  const found = readPostmaster(dataFolder)
  if (!found || !commandLineOf(found.pid)?.includes(dataFolder)) return undefined
  await stopPostmaster(found.pid)
  return found.pid
}

/**
 * Fast shutdown first; each harder way when the one before did not do in its time. What a hard way
 * cuts off is made good from the write-ahead log by the next start.
 */
const WAYS = [
  { signal: 'SIGINT', milliseconds: 1200 },
  { signal: 'SIGQUIT', milliseconds: 400 },
  { signal: 'SIGKILL', milliseconds: 400 },
] as const

export async function stopPostmaster(pid: number): Promise<void> {
  for (const { signal, milliseconds } of WAYS) {
    if (!kill(pid, signal)) return
    const end = Date.now() + milliseconds
    while (Date.now() < end) {
      if (!kill(pid, 0)) return
      await delay(10)
    }
  }
}

/** False when no such process runs (a zombie does not). */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return signal !== 0 || commandLineOf(pid) !== undefined
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false
    throw error
  }
}

function commandLineOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') || undefined
    }
    const line = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return line.trim() || undefined
  } catch {
    return undefined // It has ended.
  }
}
