/** What the documents say is what the code does: reasons, settings, commands, folders, files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withSettings } from '../hack/print-settings.ts'
import { QUERIES_FILE, queriesText } from '../hack/print-sql.ts'
import { COMMANDS } from '../src/cli/commands/commands.ts'
import { STATUS_CODE } from '../src/kube/status-error.ts'

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const maintainers = readFileSync(join(ROOT, 'src/README.md'), 'utf8')

describe('README.md', () => {
  test('has every setting of src/settings.ts, as hack/print-settings.ts writes them', () => {
    expect(withSettings(readme)).toBe(readme)
  })

  test('speaks of no command that is not there', () => {
    const known = [...COMMANDS.keys()]
    for (const [, name] of readme.matchAll(/npx fleetglass ([a-z][a-z-]*)/g))
      expect(known).toContain(name)
  })

  test.each([...COMMANDS.keys()])('speaks of the command %s', (name) => {
    expect(readme).toMatch(new RegExp(`(\`|npx )(fleetglass )?${name}\\b`))
  })

  test.each([...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link!))(
    'links to %s, which is there',
    (link) => {
      expect(existsSync(join(ROOT, link))).toBe(true)
    },
  )

  test.each([...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!))(
    'has a heading for #%s',
    (anchor) => {
      const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replaceAll(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      )
      expect(headings).toContain(anchor)
    },
  )
})

describe('src/README.md', () => {
  test('explains every reason that a client can be given, with its code', () => {
    const section = maintainers.slice(maintainers.indexOf('\n## Errors'))
    const explained = [...section.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, reason, code]) => [
      reason,
      Number(code),
    ])
    expect(Object.fromEntries(explained)).toEqual(STATUS_CODE)
  })

  test('maps every folder', () => {
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    const mapped = [...maintainers.matchAll(/^\| `(\w+)\/` \| \d/gm)].map(([, name]) => name!)
    expect(mapped.toSorted()).toEqual(folders.toSorted())
  })

  test.each([...maintainers.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.ts)`/g)].map(([, path]) => path!))(
    'names %s, which is there',
    (path) => {
      const places = [join(ROOT, 'src', path), join(ROOT, path)]
      expect(places.some(existsSync)).toBe(true)
    },
  )
})

test('src/store/queries.sql has the statements as hack/print-sql.ts writes them', () => {
  expect(readFileSync(QUERIES_FILE, 'utf8')).toBe(queriesText())
})
