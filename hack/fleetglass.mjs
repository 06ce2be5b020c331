#!/usr/bin/env node
/**
 * The command `fleetglass`. Runs on Node 20 or later, and hands over to a Node that is new enough:
 * compiled JavaScript when installed as a package, the TypeScript sources in a clone.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundledNode, endWithNpm, runAndFollow, runningNodeIsNewEnough } from './node-runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// A package has no sources, and a clone may hold an old build: the sources win.
const source = join(root, 'src/main.ts')
const main = existsSync(source) ? source : join(root, 'dist/main.js')

if (runningNodeIsNewEnough()) {
  endWithNpm()
  process.argv[1] = main
  await import(pathToFileURL(main).href)
} else {
  process.exitCode = await runAndFollow(bundledNode(root), [main, ...process.argv.slice(2)])
}
