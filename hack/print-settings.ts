/** Writes the table of settings into README.md, from src/settings.ts. Run by hand; a test compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, type Setting, variableOf } from '../src/settings.ts'

const README = join(import.meta.dirname, '../README.md')
const PLACE = /(<!-- settings: [^>]*-->\n).*(<!-- \/settings -->)/s

/** The table, as it stands in README.md. */
export function settingsTable(): string {
  const rows = Object.values<Setting<unknown>>(SETTINGS).map((setting) => {
    const { flag, placeholder, help, fallback, fallbackHelp } = setting
    const named = `\`--${flag} ${placeholder.replaceAll('|', '\\|')}\``
    return `| ${named} | \`${variableOf(setting)}\` | ${help} | ${fallbackHelp ?? (fallback ? `\`${fallback}\`` : '')} |`
  })
  return ['| Flag | Variable | Sets | Default |', '|---|---|---|---|', ...rows, ''].join('\n')
}

export function withSettings(readme: string): string {
  return readme.replace(PLACE, (_, start, end) => `${start}${settingsTable()}${end}`)
}

if (import.meta.main) writeFileSync(README, withSettings(readFileSync(README, 'utf8')))
