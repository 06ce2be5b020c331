/**
 * Arguments → command → exit code.
 *
 * Whatever goes wrong ends in one sentence on standard error: exit code 2 when the command line is
 * at fault, 1 when it is anything else. A stack is shown only for a defect of ours.
 */
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { commandsFor, type DefineCommand } from './commands/commands.ts'
import { defineHelp, describeOption } from './commands/help.ts'
import { CommandFailure, messageOf } from './failure.ts'
import { version } from './version.ts'

/** Columns: beside the longest flags, help is still wrapped on a terminal of 80. */
const LEAST_HELP_WIDTH = 20

/** What a command gets back to `run`: its exit code, 0 when it says nothing. */
interface Outcome {
  exitCode: number
}

export async function run(args: readonly string[]): Promise<number> {
  const outcome: Outcome = { exitCode: 0 }
  const program = emptyProgram()
  try {
    addCommands(program, await commandsFor(args), outcome)
    await program.parseAsync(args, { from: 'user' })
    return outcome.exitCode
  } catch (error) {
    return explain(error, commandOf(program, args))
  }
}

function emptyProgram(): Command {
  return new Command('fleetglass')
    .description('One read-only Kubernetes API over all clusters of a fleet')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .configureHelp({
      ...{ sortSubcommands: false, minWidthToWrap: LEAST_HELP_WIDTH },
      optionDescription: describeOption,
    })
    .showSuggestionAfterError()
    .exitOverride()
}

function addCommands(program: Command, commands: readonly DefineCommand[], outcome: Outcome): void {
  // A subcommand takes exitOverride over from its parent when it is added, so it comes first.
  for (const define of commands) {
    define(program, (exitCode) => {
      outcome.exitCode = exitCode
    })
  }
  defineHelp(program)
}

/** `fleetglass token create`: the command that these arguments ask for, as far as there is one. */
function commandOf(program: Command, args: readonly string[]): string {
  const [first, ...rest] = args
  const command = program.commands.find((each) => each.name() === first)
  return command ? `${program.name()} ${commandOf(command, rest)}` : program.name()
}

function explain(error: unknown, command: string): number {
  // Help and version leave this way too; commander has printed what there is to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageFault(error, command)
  if (error instanceof ConfigError) {
    for (const problem of error.problems) console.error(`error: ${problem}`)
    return 2
  }
  if (error instanceof CommandFailure) {
    console.error(`error: ${error.message}`)
    return error.exitCode
  }
  // A file that is in the way, missing, read-only, or on a disk that is full.
  if (error instanceof Error && 'syscall' in error && 'path' in error) {
    console.error(`error: ${error.path}: ${messageOf(error)}`)
    return 1
  }
  // By name, because store/connect.ts is loaded only by commands that need a database.
  if (error instanceof Error && error.name === 'StoreUnavailable') {
    console.error(`error: ${error.message}`)
    return 1
  }
  console.error(error)
  return 1
}

function usageFault({ code, exitCode }: CommanderError, command: string): number {
  // `fleetglass` alone prints its help, which is no hint at a fault.
  if (code !== 'commander.help') console.error(`See '${command} --help'.`)
  // Commander's own code is 1; a command that has another for its usage set it.
  return exitCode === 1 ? 2 : exitCode
}
