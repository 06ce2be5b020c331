/** `npm run test:chaos -- [--minutes N] [--seed N]`: the chaos test alone, for longer. */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
})
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', '--project', 'chaos'], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    FLEETGLASS_CHAOS_MINUTES: values.minutes,
    ...(values.seed !== undefined && { FLEETGLASS_CHAOS_SEED: values.seed }),
  },
})
child.once('exit', (code) => {
  process.exitCode = code ?? 1
})
