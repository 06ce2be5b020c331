/** For commands that run apart from `serve`: they have no embedded database. */
import { ConfigError, SETTINGS, variableOf } from '../../config.ts'

/** @throws ConfigError when it was not given. */
export function requireDatabaseUrl(config: { readonly databaseUrl?: string }): string {
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const { flag, help } = SETTINGS.databaseUrl
  throw new ConfigError([`--${flag} (or ${variableOf(SETTINGS.databaseUrl)}) is required: ${help}`])
}
