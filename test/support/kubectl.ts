/**
 * Every kubectl on this machine, to try our server with: those on the PATH and the older ones
 * beside them. Where there is none, the one inside an npm package (packed-tools.ts); without a
 * network there is none, and the tests that need it say so.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { packedTool } from './packed-tools.ts'

export interface Kubectl {
  /** `1.33`. */
  readonly version: string
  readonly path: string
}

export interface KubectlResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** One of each version, oldest first. */
export function allKubectls(): readonly Kubectl[] {
  const found = new Map<string, Kubectl>()
  for (const path of [...onThePath(), ...fromCacheWhenNone()]) {
    const version = versionOf(path)
    if (version && !found.has(version)) found.set(version, { version, path })
  }
  return [...found.values()].sort((a, b) => minor(a) - minor(b))
}

/** The newest, for tests of ours that are not about kubectl. */
export function anyKubectl(): Kubectl | undefined {
  return allKubectls().at(-1)
}

/** Runs kubectl in a home of its own, so that no cached discovery of another server is used. */
export class KubectlRunner {
  readonly #home = temporaryHome()
  readonly kubectl: Kubectl
  readonly kubeconfig: string

  constructor(kubectl: Kubectl, kubeconfig: string) {
    this.kubectl = kubectl
    this.kubeconfig = kubeconfig
  }

  run(args: readonly string[], input = ''): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const options = { env: this.environment(), timeout: 60_000, maxBuffer: 1 << 28 }
      const child = execFile(this.kubectl.path, args, options, (error, stdout, stderr) => {
        const exitCode = error ? (typeof error.code === 'number' ? error.code : 255) : 0
        resolve({ exitCode, stdout, stderr })
      })
      feed(child.stdin, input)
    })
  }

  /** As a user would paste it, quotes included. */
  paste(line: string, input = ''): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', line], { env: this.environment(), timeout: 60_000 })
      const output = { stdout: '', stderr: '' }
      child.stdout.on('data', (chunk) => {
        output.stdout += chunk
      })
      child.stderr.on('data', (chunk) => {
        output.stderr += chunk
      })
      child.on('close', (code) => resolve({ exitCode: code ?? 255, ...output }))
      feed(child.stdin, input)
    })
  }

  environment(): NodeJS.ProcessEnv {
    // `kubectl` in a pasted line is the one under test.
    const bin = join(this.#home, 'bin')
    if (!existsSync(bin)) {
      mkdirSync(bin)
      writeFileSync(join(bin, 'kubectl'), `#!/bin/sh\nexec "${this.kubectl.path}" "$@"\n`)
      chmodSync(join(bin, 'kubectl'), 0o755)
    }
    return {
      ...process.env,
      HOME: this.#home,
      KUBECONFIG: this.kubeconfig,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
    }
  }
}

const homes = new Set<string>()
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true })
})

/** Gone when this process is. */
function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'fleetglass-kubectl-'))
  homes.add(home)
  return home
}

function feed(stdin: Writable | null, input: string): void {
  // A command that does not read may end before it is written to; what it printed is what counts.
  stdin?.on('error', () => undefined)
  stdin?.end(input)
}

function onThePath(): readonly string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const direct = folders.map((folder) => join(folder, 'kubectl')).filter((path) => existsSync(path))
  const beside = direct.flatMap((path) => {
    const folder = dirname(realpathSync(path))
    const versioned = readdirSync(folder).filter((name) => /^kubectl\.\d+\.\d+$/.test(name))
    return versioned.map((name) => join(folder, name))
  })
  // The one on the PATH may only choose among those beside it, by what the server says it is.
  return [...beside, ...direct]
}

function versionOf(path: string): string | undefined {
  try {
    const text = execFileSync(path, ['version', '--client', '-o', 'json'], { stdio: 'pipe' })
    const { gitVersion } = JSON.parse(text.toString()).clientVersion
    return /^v(\d+\.\d+)/.exec(gitVersion)?.[1]
  } catch {
    return undefined
  }
}

function minor({ version }: Kubectl): number {
  return Number(version.split('.')[1])
}

function fromCacheWhenNone(): readonly string[] {
  if (onThePath().length > 0) return []
  const path = packedTool('kubectl')
  return path === undefined ? [] : [path]
}
