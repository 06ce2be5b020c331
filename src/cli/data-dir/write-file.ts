/** Writes a file so that a reader, or a crash, meets the old text or the new one and nothing between. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'

export function replaceFile(path: string, text: string, mode = 0o600): void {
  const beside = `${path}.${process.pid}.new`
  const file = openSync(beside, 'w', mode)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  chmodSync(beside, mode)
  renameSync(beside, path)
}
