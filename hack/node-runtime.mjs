/**
 * Which Node.js runs fleetglass, and how a parent process stands in for it.
 *
 * Runs on Node 20. Node cannot replace its own process image there, so the real program is a
 * child: signals are passed on, the exit code is passed back, and a channel between the two ends
 * the child when the parent is killed without a chance to say so.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'

/** One runtime for everybody: what is tested is what runs. */
const OLDEST_MAJOR = 24

export function runningNodeIsNewEnough() {
  return Number.parseInt(process.versions.node, 10) >= OLDEST_MAJOR
}

/**
 * The Node 24 that is installed as the dependency `node`, else the running one.
 * Ends the process with a sentence when neither will do.
 */
export function bundledNode(root) {
  const found = installedNode(root)
  if (found) return found
  if (runningNodeIsNewEnough()) return process.execPath
  console.error(
    `fleetglass needs Node.js ${OLDEST_MAJOR} or later and this is ${process.versions.node}. ` +
      'It brings Node 24 as the package "node", whose install script did not run: ' +
      'allow it with "npm install-scripts approve node" and "npm rebuild node".',
  )
  process.exit(1)
}

function installedNode(root) {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('node/package.json')
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
    const path = join(dirname(manifest), bin.node)
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

/** Runs Node with these arguments as if it were this process; resolves with its exit code. */
export function runAndFollow(node, commandLine) {
  return new Promise((resolve) => {
    const child = spawn(node, commandLine, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
    const forward = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
      const pass = () => passOn(child, signal)
      process.on(signal, pass)
      return () => process.off(signal, pass)
    })
    const stop = (code) => {
      for (const undo of forward) undo()
      clearInterval(orphaned)
      resolve(code)
    }
    const orphaned = endWhenOrphaned(child)
    child.on('error', (error) => {
      console.error(`cannot run ${node}: ${error.message}`)
      stop(1)
    })
    child.on('exit', (code, signal) => stop(code ?? 128 + (constants.signals[signal] ?? 0)))
  })
}

function passOn(child, signal) {
  // At a terminal, Ctrl-C reaches the whole process group; the child has it already.
  if (signal === 'SIGINT' && process.stdin.isTTY) return
  child.kill(signal)
}

/** A shell between npm and this process may die without passing anything on. */
function endWhenOrphaned(child) {
  return whenOrphaned(() => child.kill('SIGTERM'))
}

/** npm and npx do not pass every signal on to what they run; then that must notice by itself. */
export function endWithNpm() {
  if (process.env.npm_command) whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))
}

function whenOrphaned(end) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    end()
  }, 500)
  timer.unref()
  return timer
}
