/** The table of faults, the guards and the tests that hold them belong together. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CASES } from './cases.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const countOf = (part: string, text: string) => text.split(part).length - 1

describe.each(CASES)('$id: $fault', ({ guards }) => {
  test.each(guards)('$file has its guard once', ({ file, text, becomes }) => {
    expect(countOf(text, read(`src/${file}`))).toBe(1)
    expect(becomes).not.toBe(text)
  })

  test.each(guards)('$test.file has its test once', ({ test: { file, name } }) => {
    const names = read(`test/${file}`)
    // In a name, not in the prose or the code around it.
    expect(
      countOf(`'${name}`, names) + countOf(`: ${name}`, names) + countOf(`} ${name}`, names),
    ).toBe(1)
  })
})

test('src/README.md has a row for each guard, in order, and no other', () => {
  const table = read('src/README.md')
    .split('\n')
    .filter((line) => /^\| [A-E]\d+ \|/.test(line))
  expect(table).toEqual(
    CASES.flatMap(({ id, fault, guards, hasNo = '' }) =>
      guards.map(({ file, text, test: held }) => {
        const guard = text.trim().split('\n')[0]!.replaceAll('|', '\\|')
        return `| ${id} | ${fault} | \`test/${held.file}\`: ${held.name} | \`${file}\`: \`\` ${guard} \`\` | ${hasNo} |`
      }),
    ),
  )
})
