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
  readonly #postgres: number

  constructor(serve: number, dataDir: string) {
    const program = childrenOf(serve).find((pid) => commandOf(pid).includes('serve')) ?? serve
    this.#serve = program
    const folder = join(realpathSync(join(dataDir, 'postgres')), 'data/postmaster.pid')
    this.#postgres = Number(readFileSync(folder, 'utf8').split('\n')[0])
  }

  /** It is another one after each restart; undefined while there is none. */
  get #syncer(): number | undefined {
    return childrenOf(this.#serve).find((pid) => commandOf(pid).includes('syncer'))
  }

  /** As a crash: it is started again. */
  killSyncer(): void {
    process.kill(this.#syncer!, 'SIGKILL')
  }

  /** What the syncer holds in memory now, in MB. */
  syncerMegabytes(): number {
    return megabytesOf(this.#syncer, 'VmRSS')
  }

  /** CPU seconds since each started. */
  usage(): Usage {
    const backends = childrenOf(this.#postgres).map((pid) => secondsOf(pid).own)
    const { ended } = secondsOf(this.#postgres)
    return {
      postgres: backends.reduce((sum, seconds) => sum + seconds, ended),
      apiServer: secondsOf(this.#serve).own,
      syncer: secondsOf(this.#syncer!).own,
    }
  }

  /** The most memory that each has had, in MB. */
  peakMegabytes(): { apiServer: number; syncer: number } {
    return {
      apiServer: megabytesOf(this.#serve, 'VmHWM'),
      syncer: megabytesOf(this.#syncer, 'VmHWM'),
    }
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
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // It has ended meanwhile.
  }
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

/** 0 for a process that is not there. */
export function megabytesOf(pid: number | undefined, what: 'VmHWM' | 'VmRSS'): number {
  if (pid === undefined) return 0
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const line = new RegExp(`^${what}:\\s*(\\d+) kB`, 'm').exec(text)
  return Number(line?.[1] ?? 0) / 1024
}
