/** Commands whose exit codes are answers have a code of their own for a wrong command line. */
import type { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { CommandFailure } from './failure.ts'

/** To be called before subcommands are added: they take it over. */
export function exitOnUsageWith(command: Command, exitCode: number): Command {
  return command
    .configureOutput({ outputError: () => undefined })
    .exitOverride((error: CommanderError) => {
      // Help and version leave this way too.
      if (error.exitCode === 0) throw error
      throw new CommandFailure(error.message.replace(/^error: /, ''), { exitCode })
    })
}

/** What `read` throws because of the command line ends the command with this code. */
export function readingFlags<T>(exitCode: number, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof ConfigError ? new CommandFailure(error.message, { exitCode }) : error
  }
}
