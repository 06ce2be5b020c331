/** The executable: hands the arguments to cli/ and sets the exit code. */
import { run } from './cli/run.ts'

process.exitCode = await run(process.argv.slice(2))
