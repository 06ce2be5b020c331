/** The executable: hands the arguments to cli/ and sets the exit code. */
import { enableCompileCache } from 'node:module'

/** What was left open must not keep a command alive that is done. */
const ENDS_WITHIN_MILLISECONDS = 1000

// Compiling is half of what a start costs, and the same each time. What is imported before this
// line is not kept, so the rest is imported after it.
enableCompileCache()
const { explainOutputErrors } = await import('./cli/output-errors.ts')
const { run } = await import('./cli/run.ts')

explainOutputErrors(process)

process.exitCode = await run(process.argv.slice(2))
setTimeout(() => process.exit(), ENDS_WITHIN_MILLISECONDS).unref()
