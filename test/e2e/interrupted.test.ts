/** Ctrl-C at any moment of a start leaves nothing running. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesWith, RunningFleetglass } from '../support/running-fleetglass.ts'
import { until } from '../support/until.ts'

test.each([200, 700, 1200, 2000, 3500])(
  'after %d ms',
  async (milliseconds) => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetglass-interrupted-'))
    // So that the database's user can reach it, and its files go with it.
    chmodSync(folder, 0o711)
    const dataDir = join(folder, 'data')
    const demo = new RunningFleetglass(['demo', '--data-dir', dataDir, '--listen', '127.0.0.1:0'])
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    await demo.kill('SIGINT')
    await until(() => processesWith(dataDir).length === 0)
    expect(demo.output.stderr).not.toMatch(/^error|\n {4}at /m)
    rmSync(folder, { recursive: true })
  },
  60_000,
)
