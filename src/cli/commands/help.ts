/** `fleetglass help`: of a command, or of one below it, as in `fleetglass help token create`. */
import type { Command, Option } from 'commander'

export function defineHelp(program: Command): void {
  program
    .command('help [COMMAND...]')
    .description('print help for a command')
    .action((path: readonly string[]) => commandAt(program, path).help())
}

/** As settings have it in their help: `what it sets (required)`, `(default: 90d)`. */
export function describeOption(option: Option): string {
  const notes = [
    ...(option.mandatory ? ['required'] : []),
    ...(option.argChoices ? [option.argChoices.join(' or ')] : []),
    ...defaultOf(option),
  ]
  return notes.length === 0 ? option.description : `${option.description} (${notes.join('; ')})`
}

/** None of an empty list, which nobody can type. */
function defaultOf({ defaultValue, defaultValueDescription }: Option): readonly string[] {
  if (defaultValueDescription !== undefined) return [`default: ${defaultValueDescription}`]
  const isTyped = typeof defaultValue === 'string' || typeof defaultValue === 'number'
  return isTyped ? [`default: ${defaultValue}`] : []
}

function commandAt(program: Command, path: readonly string[]): Command {
  return path.reduce((above, name) => {
    const command = above.commands.find((each) => each.name() === name)
    return command ?? above.error(`error: unknown command '${name}'`)
  }, program)
}
