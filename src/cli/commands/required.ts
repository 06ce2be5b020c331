/** For commands that run apart from `serve`: they have no data directory with defaults in it. */
import { ConfigError } from '../../config.ts'
import { SETTINGS, type SettingName, variableOf } from '../../settings.ts'

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
