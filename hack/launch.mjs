/**
 * What `npm run demo`, `npm test` and the other scripts start, on whatever Node.js (20 or later)
 * the machine has: installs what is missing, then hands over to the Node 24 from node_modules.
 *
 * Plain JavaScript without dependencies, because it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledNode, runAndFollow } from './node-runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const local = (...parts) => join(root, 'node_modules', ...parts)

const TYPES = [local('typescript/bin/tsc'), '--noEmit', '-p', root]
const LINT = [local('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings']
const UNUSED = [local('knip/bin/knip.js')]

/** Each is a list of Node command lines, run one after another until one fails. */
const TASKS = {
  install: () => [],
  demo: (rest) => [[join(root, 'src/main.ts'), 'demo', ...rest]],
  test: (rest) => [[local('vitest/vitest.mjs'), 'run', ...rest]],
  'test-chaos': (rest) => [[join(root, 'hack/test-chaos.ts'), ...rest]],
  'test-guards': (rest) => [[join(root, 'hack/test-guards.ts'), ...rest]],
  types: () => [TYPES],
  lint: () => [LINT],
  unused: () => [UNUSED],
  check: () => [TYPES, LINT, UNUSED],
  build: () => [
    ['-e', `fs.rmSync(${JSON.stringify(join(root, 'dist'))}, { recursive: true, force: true })`],
    [local('typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json')],
    [join(root, 'hack/copy-assets.mjs')],
  ],
  'bench-fleet': () => [[join(root, 'hack/bench-fleet.ts')]],
  'bench-sync': (rest) => [[join(root, 'test/bench/sync.ts'), ...rest]],
  'bench-churn': (rest) => [[join(root, 'test/bench/churn.ts'), ...rest]],
  'bench-management': (rest) => [[join(root, 'test/bench/management.ts'), ...rest]],
  'bench-read': (rest) => [[join(root, 'test/bench/read.ts'), ...rest]],
  package: () => [[join(root, 'hack/try-package.mjs')]],
}

const [task = '', ...rest] = process.argv.slice(2)
if (!Object.hasOwn(TASKS, task)) {
  console.error(`launch.mjs runs ${Object.keys(TASKS).join(', ')}; it was given "${task}"`)
  process.exit(2)
}
if (!isInstalled()) install()
process.exitCode = await runAll(bundledNode(root), TASKS[task](rest))

async function runAll(node, commandLines) {
  for (const commandLine of commandLines) {
    const code = await runAndFollow(node, commandLine)
    if (code !== 0) return code
  }
  return 0
}

/** Compares what npm noted that it installed with what package-lock.json asks for. */
function isInstalled() {
  const noted = packagesOf(local('.package-lock.json'))
  const asked = packagesOf(join(root, 'package-lock.json'))
  if (!noted || !asked || !existsSync(local('node/bin/node'))) return false
  return Object.entries(asked).every(([path, entry]) => {
    const found = noted[path]
    // An optional package is left out on machines it is not for.
    return found ? found.version === entry.version : path === '' || entry.optional || entry.peer
  })
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages
  } catch {
    return undefined
  }
}

function install() {
  console.error('Installing dependencies (npm ci) …')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // Its notes on standard error only: standard output belongs to what was asked for.
  const done = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (done.status !== 0) {
    console.error('npm ci did not succeed; nothing was started.')
    process.exit(done.status ?? 1)
  }
}
