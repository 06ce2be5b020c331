/** For commands that run apart from `serve`: they have no data directory with defaults in it. */
import { ConfigError } from '../../config.ts'
import { SETTINGS, type SettingName, variableOf } from '../../settings.ts'

/** What each of them has to be given, for its help. */
export const REQUIRED_APART = ['databaseUrl', 'encryptionKeyFile'] as const

/** @throws ConfigError when it was not given. */
export function required<Some extends object, Name extends keyof Some & SettingName>(
  config: Some,
  name: Name,
): NonNullable<Some[Name]> {
  const value = config[name]
  if (value !== undefined && value !== null) return value
  const { flag, help } = SETTINGS[name]
  throw new ConfigError([`--${flag} (or ${variableOf(SETTINGS[name])}) is required: ${help}`])
}
