/**
 * Takes each guard of test/guards/cases.ts out of a copy of the tree, and wants to see its test fail.
 *
 * `npm run test:guards` does all of them, `npm run test:guards -- A2 D18` these cases.
 */
import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CASES, type Guard } from '../test/guards/cases.ts'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const NOT_COPIED = new Set(['node_modules', '.git', 'dist', '.data'])
const WORKERS = 2
/** Nearly all of them are to fail, most by waiting for what does not come. */
const HOPELESS_MILLISECONDS = 20_000
/** A test that waits for ever is ended by vitest itself; this is for what hangs beside it. */
const MOST_MILLISECONDS = 240_000

interface Job {
  readonly id: string
  readonly guard: Guard
}

interface Report {
  readonly numFailedTests: number
  readonly numPassedTests: number
}

const wanted = new Set(process.argv.slice(2))
const jobs = CASES.filter(({ id }) => wanted.size === 0 || wanted.has(id)).flatMap(
  ({ id, guards }) => guards.map((guard): Job => ({ id, guard })),
)
const total = jobs.length
const unguarded: string[] = []
await Promise.all(Array.from({ length: WORKERS }, worker))
console.log(`${total - unguarded.length} of ${total} guards are held by their tests`)
for (const one of unguarded) console.log(`NOT HELD: ${one}`)
process.exitCode = unguarded.length === 0 ? 0 : 1

async function worker(): Promise<void> {
  const tree = copyTree()
  try {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const { id, guard } = job
      const line = `${id.padEnd(4)} ${guard.file}: ${guard.text.trim().split('\n')[0]}`
      const verdict = await withoutGuard(tree, guard)
      console.log(`${verdict === 'fails' ? 'held' : verdict.padEnd(4)}  ${line}`)
      if (verdict !== 'fails') unguarded.push(`${line} (the test ${verdict})`)
    }
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

function copyTree(): string {
  const tree = mkdtempSync(join(tmpdir(), 'fleetglass-guards-'))
  for (const entry of readdirSync(ROOT)) {
    if (NOT_COPIED.has(entry)) continue
    cpSync(join(ROOT, entry), join(tree, entry), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

/** What the test does in a tree without the guard. */
async function withoutGuard(tree: string, guard: Guard): Promise<'fails' | 'passes' | 'breaks'> {
  const path = join(tree, 'src', guard.file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    source.replace(guard.text, () => guard.becomes),
  )
  try {
    const report = await runTest(tree, guard.test)
    // Nothing ran: the file does not load, or the name is wrong.
    if (!report || report.numFailedTests + report.numPassedTests === 0) return 'breaks'
    return report.numFailedTests > 0 ? 'fails' : 'passes'
  } finally {
    writeFileSync(path, source)
  }
}

async function runTest(tree: string, { file, name }: Guard['test']): Promise<Report | undefined> {
  const output = join(tree, 'report.json')
  rmSync(output, { force: true })
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const vitest = join(tree, 'node_modules/vitest/vitest.mjs')
  const flags = [
    ...['--reporter=json', `--outputFile=${output}`, '--project', 'main', '-t', pattern],
    `--testTimeout=${HOPELESS_MILLISECONDS}`,
  ]
  const child = spawn(process.execPath, [vitest, 'run', ...flags, `test/${file}`], {
    cwd: tree,
    stdio: 'ignore',
    timeout: MOST_MILLISECONDS,
    killSignal: 'SIGTERM',
  })
  await new Promise((resolve) => child.once('exit', resolve))
  try {
    return JSON.parse(readFileSync(output, 'utf8'))
  } catch {
    return undefined
  }
}
