/** Writes a file so that a reader, or a crash, meets the old text or the new one and nothing between. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { CommandFailure, messageOf } from '../failure.ts'

/** @throws CommandFailure naming the file and what is in the way. */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  const beside = besideOf(path)
  orSayWhy(path, () => {
    const file = openSync(beside, 'w', mode)
    writeSync(file, text)
    fsyncSync(file)
    closeSync(file)
    chmodSync(beside, mode)
    renameSync(beside, path)
  })
}

/**
 * For whoever does something that cannot be undone before writing the file.
 *
 * @throws CommandFailure when {@link replaceFile} could not write it.
 */
export function checkReplaceable(path: string): void {
  const beside = besideOf(path)
  orSayWhy(path, () => {
    closeSync(openSync(beside, 'w', 0o600))
    rmSync(beside)
  })
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandFailure(`cannot write ${path}: it is a directory`)
  }
}

function besideOf(path: string): string {
  return `${path}.${process.pid}.new`
}

function orSayWhy(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new CommandFailure(`cannot write ${path}: ${messageOf(error)}`, { cause: error })
  }
}
