/**
 * The settings that stand in a file: YAML, with the names of flags as keys.
 *
 *     listen: 0.0.0.0:8443
 *     tls-san: [fleet.example.com, 10.0.0.7]
 *
 * One file may serve all commands, so a setting that a command does not take is passed over; one
 * that no command takes is a mistake.
 */
import { readFileSync } from 'node:fs'
import { parse, YAMLParseError } from 'yaml'
import { ConfigError, type ConfigFile } from '../config.ts'
import { didYouMean } from '../kube/nearest.ts'
import { SETTINGS, type Setting } from '../settings.ts'
import { messageOf } from './failure.ts'

const FLAGS = new Map(Object.values<Setting<unknown>>(SETTINGS).map((one) => [one.flag, one]))

/** @throws ConfigError when it cannot be read, or naming every key in it that is no setting. */
export function readConfigFile(path: string): ConfigFile {
  const content = parseFile(path)
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const [flag, given] of Object.entries(content)) {
    const setting = FLAGS.get(flag)
    const text = setting && asTyped(setting, given)
    if (text !== undefined) values.set(flag, text)
    else problems.push(setting ? notOneValue(setting) : notASetting(flag))
  }
  if (problems.length > 0) throw new ConfigError(problems.map((why) => `${path}: ${why}`))
  return { path, values }
}

function parseFile(path: string): object {
  let content: unknown
  try {
    // Every scalar stays the text that was typed, as it would be behind a flag.
    content = parse(readFileSync(path, 'utf8'), { schema: 'failsafe', prettyErrors: true })
  } catch (error) {
    // What follows the first line quotes the file, in which a password may stand.
    const [why] = messageOf(error).split('\n')
    const what = error instanceof YAMLParseError ? 'is not YAML' : 'cannot be read'
    throw new ConfigError([`--config ${path} ${what}: ${why}`])
  }
  if (content === null || content === undefined || content === '') return {}
  if (typeof content === 'object' && !Array.isArray(content)) return content
  throw new ConfigError([`--config ${path} must hold settings: a line "FLAG: VALUE" for each`])
}

/** Undefined when it is neither a scalar nor, for a setting that may be repeated, a list of them. */
function asTyped({ flag, many }: Setting<unknown>, given: unknown): string | undefined {
  if (flag === SETTINGS.config.flag) return undefined
  if (typeof given === 'string') return given
  const isList = many && Array.isArray(given) && given.every((one) => typeof one === 'string')
  return isList ? given.join(',') : undefined
}

function notOneValue({ flag, many }: Setting<unknown>): string {
  if (flag === SETTINGS.config.flag) return `${flag} cannot name another file`
  return `${flag} must be ${many ? 'a value or a list of values' : 'one value'}`
}

function notASetting(flag: string): string {
  return `there is no setting ${JSON.stringify(flag)}${didYouMean(flag, [...FLAGS.keys()])}`
}
