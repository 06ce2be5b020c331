/** What happens when nobody takes what a command prints: the reader has gone, or the disk is full. */
import { messageOf } from './failure.ts'

const ENDED_BY_SIGPIPE = 128 + 13

/**
 * `fleetglass fleet | head -1`: whoever reads has seen enough. It is no pass, so the code is that of
 * a program which SIGPIPE ended. Whatever else is wrong with the output is a sentence, and exit
 * code 1. To be called once, at the start.
 */
export function explainOutputErrors({
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'stdout' | 'stderr'>): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(ENDED_BY_SIGPIPE)
      if (stream === stdout) stderr.write(`error: cannot write the output: ${messageOf(error)}\n`)
      process.exit(1)
    })
  }
}
