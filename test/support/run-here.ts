/** A command line in this process: a table of them would take minutes to start otherwise. */
import { vi } from 'vitest'
import { run } from '../../src/cli/run.ts'

export interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export async function runHere(...args: readonly string[]): Promise<Ended> {
  const printed = { stdout: '', stderr: '' }
  const collect = (to: keyof typeof printed) => (text: unknown) => {
    printed[to] += String(text)
    return true
  }
  const error = (text: unknown) => void collect('stderr')(`${String(text)}\n`)
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(collect('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(collect('stderr')),
    vi.spyOn(console, 'error').mockImplementation(error),
  ]
  try {
    return { exitCode: await run(args), ...printed }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
