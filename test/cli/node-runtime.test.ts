/** hack/node-runtime.mjs: a parent that stands in for the real program. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const RUNTIME = join(import.meta.dirname, '../../hack/node-runtime.mjs')

/** Starts a parent that follows a child which runs this script. */
function follow(script: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const parent = `import { runAndFollow } from ${JSON.stringify(RUNTIME)}
    process.exitCode = await runAndFollow(process.execPath, ['-e', ${JSON.stringify(script)}])`
  return spawn(process.execPath, ['--input-type=module', '-e', parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }) as ChildProcess & { stdout: NodeJS.ReadableStream }
}

async function said(parent: { stdout: NodeJS.ReadableStream }): Promise<string> {
  const [chunk] = await once(parent.stdout, 'data')
  return String(chunk).trim()
}

/** Says its process id, and stays until something ends it. */
const STAYS = 'console.log(process.pid); setInterval(() => {}, 1000);'

describe('a process that stands in for another', () => {
  test('ends with its exit code', async () => {
    expect((await once(follow('process.exit(7)'), 'exit'))[0]).toBe(7)
  })

  test('reports the signal that ended it as a shell does', async () => {
    const [code] = await once(follow('process.kill(process.pid, "SIGKILL")'), 'exit')
    expect(code).toBe(137)
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes %s on', async (signal) => {
    const parent = follow(`process.on('${signal}', () => process.exit(5)); ${STAYS}`)
    await said(parent)
    parent.kill(signal)
    expect((await once(parent, 'exit'))[0]).toBe(5)
  })

  test('takes the other with it when it is killed', async () => {
    const parent = follow(`process.on('disconnect', () => process.exit()); ${STAYS}`)
    await said(parent)
    parent.kill('SIGKILL')
    // The other holds the end of this pipe, so it closes when that has ended too.
    await once(parent.stdout, 'close')
    expect(parent.stdout).toHaveProperty('closed', true)
  })
})
