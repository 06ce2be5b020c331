/** Runs the command of `--exec` in a shell, as if it were this process. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { environmentWith } from '../../config.ts'

/** @returns its exit code; 128 and the signal's number when a signal ended it, as a shell does. */
export function runCommand(
  command: string,
  kubeconfig: string,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: 'inherit',
      env: environmentWith({ KUBECONFIG: kubeconfig }),
    })
    const end = () => child.kill('SIGTERM')
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
    child.once('error', reject)
    child.once('exit', (code, by) => {
      signal.removeEventListener('abort', end)
      resolve(code ?? 128 + (constants.signals[by ?? 'SIGTERM'] ?? 0))
    })
  })
}
