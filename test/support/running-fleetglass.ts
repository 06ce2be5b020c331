/** `fleetglass serve` or `demo` as a process of its own, as a user starts it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { anyKubectl, type Kubectl, KubectlRunner } from './kubectl.ts'

const PROGRAM = join(import.meta.dirname, '../../hack/fleetglass.mjs')

export class RunningFleetglass {
  readonly child: ChildProcess
  readonly output = { stdout: '', stderr: '' }
  readonly #exited: Promise<number | null>

  constructor(args: readonly string[], variables: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, FLEETGLASS_LOG_LEVEL: 'warn', ...variables },
    })
    for (const stream of ['stdout', 'stderr'] as const) {
      this.child[stream]?.on('data', (chunk) => {
        this.output[stream] += chunk
      })
    }
    this.#exited = once(this.child, 'exit').then(([code]) => code)
  }

  /** Resolves when this stands on standard output. @throws with all output when it ends instead. */
  async says(text: string | RegExp): Promise<string> {
    for (;;) {
      const { stdout } = this.output
      if (typeof text === 'string' ? stdout.includes(text) : text.test(stdout)) return stdout
      const ended = await Promise.race([
        this.#exited.then(() => true),
        once(this.child.stdout!, 'data').then(() => false),
      ])
      if (ended) throw new Error(`fleetglass ended: ${this.output.stdout}${this.output.stderr}`)
    }
  }

  /** @returns the exit code; null when the signal itself ended it. */
  async kill(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal)
    return await this.#exited
  }

  exited(): Promise<number | null> {
    return this.#exited
  }
}

/** Starts `serve` and waits until it is ready. */
export async function serve(
  dataDir: string,
  args: readonly string[] = [],
  variables: NodeJS.ProcessEnv = {},
): Promise<RunningFleetglass> {
  const flags = ['serve', '--data-dir', dataDir, '--listen', '127.0.0.1:0', ...args]
  const running = new RunningFleetglass(flags, variables)
  await running.says(/is ready at .*\n/)
  return running
}

/** kubectl as the administrator of this data directory. */
export function adminOf(dataDir: string, kubectl: Kubectl = anyKubectl()!): KubectlRunner {
  return new KubectlRunner(kubectl, join(dataDir, 'kubeconfig'))
}

/**
 * Processes that run with this text on their command line or in their environment; those that have
 * ended and were not waited for do not run.
 */
export function processesWith(text: string): readonly number[] {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
  return pids.filter((pid) => {
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
    try {
      if (/^State:\s*Z/m.test(read('status'))) return false
      return read('cmdline').includes(text) || read('environ').includes(text)
    } catch {
      return false // It has ended meanwhile.
    }
  })
}
