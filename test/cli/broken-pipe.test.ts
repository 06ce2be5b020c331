/** Whoever reads our output may stop reading: `fleetglass … | head -1`. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const PROGRAM = join(import.meta.dirname, '../../hack/fleetglass.mjs')
const ENDED_BY_SIGPIPE = '141'

test('a reader who has gone ends the command quietly, and not as a pass', async () => {
  // The reader has ended before anything is written.
  const script = `"$0" "$1" schema fleet | :; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile('bash', ['-c', script, process.execPath, PROGRAM], (_, stdout, stderr) => {
      resolve({ stdout, stderr })
    })
  })
  expect([stdout.trim(), stderr]).toEqual([ENDED_BY_SIGPIPE, ''])
}, 30_000)
