import { stringify } from 'yaml'

/**
 * A value → YAML that readers of version 1.1, kubectl among them, read back as the same: to them a
 * plain `no` is false, and `12:30` a number.
 */
export function formatYaml(value: unknown): string {
  return stringify(value, { version: '1.1', aliasDuplicateObjects: false })
}
