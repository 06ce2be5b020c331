/** `fleetglass help`: of a command, or of one below it, as in `fleetglass help token create`. */
import type { Command } from 'commander'

export function defineHelp(program: Command): void {
  program
    .command('help [COMMAND...]')
    .description('print help for a command')
    .action((path: readonly string[]) => commandAt(program, path).help())
}

function commandAt(program: Command, path: readonly string[]): Command {
  return path.reduce((above, name) => {
    const command = above.commands.find((each) => each.name() === name)
    return command ?? above.error(`error: unknown command '${name}'`)
  }, program)
}
