/** Makes a secret file that stays as it is once it is there; replacing one: write-file.ts. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs'
import { hasCode } from '../failure.ts'

/**
 * Of several that make it at once, one does. A crash or a full disk leaves the whole file or none:
 * half a key would be refused at every start from then on.
 */
export function createFile(path: string, makeText: () => string): void {
  if (existsSync(path)) return
  const beside = `${path}.${process.pid}.made`
  try {
    const file = openSync(beside, 'w', 0o600)
    try {
      writeSync(file, makeText())
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    linkSync(beside, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(beside, { force: true })
  }
}
