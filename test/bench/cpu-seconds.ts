/**
 * What the processes of one `fleetglass serve` have used, from /proc (Linux).
 *
 * CPU time tells more than a clock on a machine that others use, too.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** Of a kernel's clock tick; 100 a second on every Linux that we know. */
const TICKS_PER_SECOND = 100

export interface Usage {
  readonly postgres: number
  readonly apiServer: number
  readonly syncer: number
}

export class Processes {
  readonly #serve: number
  readonly #syncer: number
  readonly #postgres: number

  constructor(serve: number, dataDir: string) {
    const program = childrenOf(serve).find((pid) => commandOf(pid).includes('serve')) ?? serve
    this.#serve = program
    this.#syncer = childrenOf(program).find((pid) => commandOf(pid).includes('syncer'))!
    const folder = join(realpathSync(join(dataDir, 'postgres')), 'data/postmaster.pid')
    this.#postgres = Number(readFileSync(folder, 'utf8').split('\n')[0])
  }

  /** CPU seconds since each started. */
  usage(): Usage {
    const backends = childrenOf(this.#postgres).map((pid) => secondsOf(pid).own)
    const { ended } = secondsOf(this.#postgres)
    return {
      postgres: backends.reduce((sum, seconds) => sum + seconds, ended),
      apiServer: secondsOf(this.#serve).own,
      syncer: secondsOf(this.#syncer).own,
    }
  }

  /** The most memory that each has had, in MB. */
  peakMegabytes(): { apiServer: number; syncer: number } {
    return { apiServer: peakOf(this.#serve), syncer: peakOf(this.#syncer) }
  }
}

export function since(before: Usage, now: Usage): Usage {
  return {
    postgres: now.postgres - before.postgres,
    apiServer: now.apiServer - before.apiServer,
    syncer: now.syncer - before.syncer,
  }
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.[1] === String(parent))
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
}

/** The fields behind the command's name: state, parent … (proc(5), /proc/pid/stat). */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined // It has ended meanwhile.
  }
}

/** Its own time, and that of its children that have ended. */
function secondsOf(pid: number): { own: number; ended: number } {
  const stat = statOf(pid)
  const ticks = (from: number) => Number(stat?.[from] ?? 0) + Number(stat?.[from + 1] ?? 0)
  return { own: ticks(11) / TICKS_PER_SECOND, ended: ticks(13) / TICKS_PER_SECOND }
}

function peakOf(pid: number): number {
  const line = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1024
}
