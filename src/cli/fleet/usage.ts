/** How `fleet` and `gate` take their command lines: every mistake in one ends with exit code 4. */
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { ConfigError } from '../../config.ts'
import { EXIT_CODE, USAGE_EXIT_CODE } from '../../fleet/verdict.ts'
import { CommandFailure } from '../failure.ts'

export function usageError(message: string): CommandFailure {
  return new CommandFailure(message, { exitCode: USAGE_EXIT_CODE })
}

/** A command that also takes its long flags with a single dash, as programs in Go do. */
class SweepCommand extends Command {
  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    return super.parseOptions(args.map((arg) => this.#withTwoDashes(arg)))
  }

  #withTwoDashes(arg: string): string {
    const [, name] = /^-([a-z][a-z-]+)(?:=.*)?$/s.exec(arg) ?? []
    const isKnown = name !== undefined && this.options.some(({ long }) => long === `--${name}`)
    return isKnown ? `-${arg}` : arg
  }
}

export function addSweepCommand(program: Command, name: string): Command {
  const command = new SweepCommand(name).copyInheritedSettings(program)
  command.exitOverride((error) => {
    // Commander has printed it; help is no mistake.
    if (error.exitCode === 0) throw error
    throw new CommanderError(USAGE_EXIT_CODE, error.code, error.message)
  })
  const codes = Object.entries(EXIT_CODE).map(([verdict, code]) => `${code} ${verdict}`)
  command.addHelpText(
    'after',
    `\nExit code: ${codes.join(', ')}, ${USAGE_EXIT_CODE} a wrong command line`,
  )
  program.addCommand(command)
  return command
}

/** The work of reading flags, files and kubeconfigs: what goes wrong in it is the user's to correct. */
export async function asUsage<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ConfigError) throw usageError(error.problems.join('; '))
    if (error instanceof CommandFailure) throw usageError(error.message)
    throw error
  }
}

export function readWholeNumber(text: string): number {
  if (/^[+-]?\d+$/.test(text.trim())) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
