/** The flags of a command, made from settings.ts: what it takes, and the values that were given. */
import { type Command, Option } from 'commander'
import { type Config, type Fallbacks, parseConfig } from '../config.ts'
import { SETTINGS, type Setting, type SettingName, variableOf } from '../settings.ts'
import { readConfigFile } from './config-file.ts'

/** What of the settings' own defaults does not hold for a command. */
interface OtherDefaults {
  readonly fallbacks?: Fallbacks
  /** Without a default here (commands/required.ts). */
  readonly required?: readonly SettingName[]
}

/** Adds a flag for each of these settings, and `--config`. */
export function addSettings(
  command: Command,
  names: readonly SettingName[],
  { fallbacks = {}, required = [] }: OtherDefaults = {},
): Command {
  for (const name of [...names, 'config'] as const) {
    const setting = { ...SETTINGS[name], ...fallbackIn(fallbacks, name) }
    command.addOption(optionFor(name, setting, required.includes(name)))
  }
  return command
}

function fallbackIn(fallbacks: Fallbacks, name: SettingName): { readonly fallback?: string } {
  const fallback = fallbacks[name]
  return fallback === undefined ? {} : { fallback }
}

/** @throws ConfigError naming every flag, variable or line of the file that is malformed. */
export function readSettings<Name extends SettingName>(
  command: Command,
  names: readonly Name[],
  fallbacks: Fallbacks = {},
): Config<Name> {
  const { config } = parseConfig(['config'], command.opts())
  const file = config === undefined ? undefined : readConfigFile(config)
  return parseConfig(names, command.opts(), { file, fallbacks })
}

function optionFor(name: SettingName, setting: Setting<unknown>, isRequired: boolean): Option {
  const fallback = setting.fallbackHelp ?? setting.fallback
  const otherwise = isRequired ? ['required'] : fallback ? [`default: ${fallback}`] : []
  const notes = [...otherwise, variableOf(setting)]
  const option = new Option(
    `--${setting.flag} <${setting.placeholder}>`,
    `${setting.help} (${notes.join('; ')})`,
  )
  option.attributeName = () => name
  if (setting.many) option.argParser(collect)
  return option
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}
