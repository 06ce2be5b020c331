/** Which release this is, as package.json says. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function version(): string {
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  return String(JSON.parse(manifest).version)
}
