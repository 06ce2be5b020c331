/** The cases of json-path-cases.ts, asked of kubectl, whose JSONPath is the one of printer columns. */
import { describe, expect, test } from 'vitest'
import { goText } from '../../src/printers/go-text.ts'
import { anyKubectl, KubectlRunner } from '../support/kubectl.ts'
import { OBJECT, PATH_CASES } from './json-path-cases.ts'

const kubectl = anyKubectl()

/** With every digit of integers beyond 2^53. */
const INPUT = JSON.stringify(
  { apiVersion: 'example.com/v1', kind: 'Thing', ...OBJECT },
  (_key, value: unknown) =>
    typeof value === 'bigint'
      ? (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(String(value))
      : value,
)

/** kubectl prints null itself in another way than a column does, and text behind a path too. */
const OTHERWISE = new Set(['null itself', 'nothing', 'after the end of the expression'])

describe.skipIf(!kubectl)('kubectl finds the same', () => {
  const runner = kubectl && new KubectlRunner(kubectl, '/dev/null')
  // A label that is there already: the object is printed as it was given.
  const ask = (template: string) => {
    const args = ['label', '--local', '--overwrite', '-f', '-', 'constructor=own']
    return runner!.run([...args, '-o', `jsonpath=${template}`], INPUT)
  }
  const cases = PATH_CASES.filter(([situation]) => !OTHERWISE.has(situation))

  test('by all paths that find something', async () => {
    const found = cases.filter(([, , values]) => values !== 'error')
    const { stdout, stderr } = await ask(found.map(([, path]) => `{${path}}{"\\n\\n"}`).join(''))
    expect(stderr).toBe('')
    const lines = stdout.split('\n\n')
    for (const [i, [situation, , values]] of found.entries()) {
      const text = (values as readonly unknown[]).map(goText).join(' ')
      expect(sorted(lines[i]!), situation).toBe(sorted(text))
    }
  })

  const errors = cases.filter(([, , values]) => values === 'error')
  test.each(errors)('an error: %s', async (_situation, path) => {
    const { exitCode, stderr } = await ask(`{${path}}`)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('error executing jsonpath')
  })
})

/** Go visits the members of a map in any order. */
function sorted(text: string): string {
  return [...text].sort().join('')
}
