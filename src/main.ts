/** The executable: hands the arguments to cli/ and sets the exit code. */
import { enableCompileCache } from 'node:module'

/** What was left open must not keep a command alive that is done. */
const ENDS_WITHIN_MILLISECONDS = 1000
const ENDED_BY_SIGPIPE = 128 + 13

// Compiling is half of what a start costs, and the same each time. What is imported before this
// line is not kept, so the rest is imported after it.
enableCompileCache()
const { run } = await import('./cli/run.ts')

// `fleetglass fleet | head -1`: whoever reads has seen enough. It is no pass, so the code is that
// of a program which SIGPIPE ended.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ENDED_BY_SIGPIPE)
    throw error
  })
}

process.exitCode = await run(process.argv.slice(2))
setTimeout(() => process.exit(), ENDS_WITHIN_MILLISECONDS).unref()
