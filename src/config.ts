/**
 * Reads what is set from outside: a flag wins over a variable, a variable over the file, the file over
 * the default. What there is to set is in settings.ts. Nothing else in src/ reads the environment.
 */
import {
  type HasFallback,
  SETTINGS,
  type Setting,
  type SettingName,
  variableOf,
} from './settings.ts'

export type { ListenAddress } from './setting-values.ts'

/** In place of the defaults in the table, for a command that has others. */
export type Fallbacks = { readonly [K in SettingName]?: string }

/** Read by cli/config-file.ts. */
export interface ConfigFile {
  readonly path: string
  /** By flag, as it would be typed. */
  readonly values: ReadonlyMap<string, string>
}

export interface Sources {
  readonly environment?: Environment
  /** What `--config` names; asked for what neither a flag nor a variable says. */
  readonly file?: ConfigFile | undefined
  readonly fallbacks?: Fallbacks
}

type ValueOf<S> = S extends Setting<infer T> ? T : never
/** The settings a command takes: those with a default are always there. */
export type Config<Name extends SettingName> = {
  readonly [K in Name & HasFallback]: ValueOf<(typeof SETTINGS)[K]>
} & { readonly [K in Exclude<Name, HasFallback>]?: ValueOf<(typeof SETTINGS)[K]> }

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads these settings, or reports every mistake at once. A flag wins over its variable, and that
 * over the file.
 *
 * @param flags - by setting name, as typed; a list for a setting that may be repeated.
 * @throws {@link ConfigError} naming each flag or variable that is malformed.
 */
export function parseConfig<Name extends SettingName>(
  names: readonly Name[],
  flags: Readonly<Record<string, unknown>>,
  { environment = process.env, file, fallbacks = {} }: Sources = {},
): Config<Name> {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name]
    const given =
      givenFor(setting, flags[name], environment) ??
      givenIn(file, setting) ??
      fallbackOf(setting, fallbacks[name])
    if (given === undefined) continue
    const result = setting.read(given.text)
    if ('value' in result) values[name] = result.value
    else problems.push(problem(setting, given, result.mustBe))
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(values) as Config<Name>
}

interface Given {
  readonly text: string
  /** `--listen` or `FLEETGLASS_LISTEN`. */
  readonly by: string
}

function givenFor(
  setting: Setting<unknown>,
  flag: unknown,
  environment: Environment,
): Given | undefined {
  if (flag !== undefined) {
    return { text: Array.isArray(flag) ? flag.join(',') : String(flag), by: `--${setting.flag}` }
  }
  const variable = variableOf(setting)
  const value = environment[variable]
  return value === undefined ? undefined : { text: value, by: variable }
}

function givenIn(file: ConfigFile | undefined, { flag }: Setting<unknown>): Given | undefined {
  const text = file?.values.get(flag)
  return text === undefined ? undefined : { text, by: `${flag} in ${file?.path}` }
}

function fallbackOf(setting: Setting<unknown>, other: string | undefined): Given | undefined {
  const text = other ?? setting.fallback
  return text === undefined ? undefined : { text, by: 'the default' }
}

function problem(setting: Setting<unknown>, given: Given, mustBe: string): string {
  const shown = setting.secret ? '' : `, not ${JSON.stringify(given.text)}`
  return `${given.by} must be ${mustBe}${shown}`
}

/** The variables that say the same to a child process. Lists are joined; what is not set is left out. */
export function variablesFor(
  values: Readonly<Partial<Record<SettingName, string | number | readonly string[]>>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      variableOf(SETTINGS[name as SettingName]),
      Array.isArray(value) ? value.join(',') : String(value),
    ]),
  )
}

/** Where kubelet says that the API server of our own cluster is; undefined outside of a pod. */
export interface ClusterAddress {
  readonly host: string
  readonly port: string
}

export function clusterAddress(environment: Environment = process.env): ClusterAddress | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment
  return host && port ? { host, port } : undefined
}

/** What sweeps take from the environment: defaults of flags, and how output may look. */
export interface SweepEnvironment {
  readonly kubeconfig: string | undefined
  readonly workers: string | undefined
  readonly clusterTimeout: string | undefined
  /** https://no-color.org */
  readonly noColor: boolean
}

export function sweepEnvironment(environment: Environment = process.env): SweepEnvironment {
  return {
    kubeconfig: environment.KUBECONFIG || undefined,
    workers: environment.FLEETGLASS_FLEET_WORKERS,
    clusterTimeout: environment.FLEETGLASS_FLEET_CLUSTER_TIMEOUT,
    noColor: Boolean(environment.NO_COLOR) || environment.TERM === 'dumb',
  }
}

/** The environment of a child process: ours, with these put in. */
export function environmentWith(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...extra }
}
