/** The executable: hands the arguments to cli/ and sets the exit code. */
import { run } from './cli/run.ts'

/** What was left open must not keep a command alive that is done. */
const ENDS_WITHIN_MILLISECONDS = 1000

process.exitCode = await run(process.argv.slice(2))
setTimeout(() => process.exit(), ENDS_WITHIN_MILLISECONDS).unref()
