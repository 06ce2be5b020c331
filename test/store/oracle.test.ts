/** The oracle of the store's answers, against what a real API server selected (recorded watches). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expected, type TestObject, wordsOf } from './oracle.ts'

interface RecordedWatch {
  readonly request: { readonly path: string }
  readonly status: number
  readonly lines: readonly string[]
}

const WATCHES = JSON.parse(
  readFileSync(join(import.meta.dirname, '../recorded/member/watches.json'), 'utf8'),
) as readonly RecordedWatch[]

/** The objects of a watch, each state of them. */
function seenIn(watches: readonly RecordedWatch[]): readonly TestObject[] {
  return watches
    .flatMap(({ lines }) => lines.map((line) => JSON.parse(line)))
    .filter(({ type, object }) => ['ADDED', 'MODIFIED'].includes(type) && object.kind === 'Widget')
    .map(({ object }) => object)
}

const stateOf = ({ metadata: { name, labels } }: TestObject) => JSON.stringify([name, labels])
const every = seenIn(WATCHES.filter(({ status }) => status === 200))

test.each([
  {
    query: 'labelSelector=a%3Dmoved',
    condition: { on: 'label', requirement: { key: 'a', operator: 'In', values: ['moved'] } },
  },
  {
    query: 'fieldSelector=metadata.name%3Dseen',
    condition: {
      on: 'field',
      requirement: {
        path: [{ key: 'metadata' }, { key: 'name' }],
        operator: 'In',
        values: ['seen'],
      },
    },
  },
] as const)('selects what a real API server selected by $query', ({ query, condition }) => {
  const selected = seenIn(WATCHES.filter(({ request }) => request.path.endsWith(query)))
  expect(selected.length).toBeGreaterThan(0)
  const request = {
    scope: [{ name: 'c', namespaces: 'every-namespace' as const }],
    ...{ conditions: [condition], order: [] },
  }
  for (const object of every) {
    const isSelected = expected([{ cluster: 'c', clusterId: 1, object }], request).length === 1
    const names = new Set(selected.map(stateOf))
    if (query.startsWith('label'))
      expect([object, isSelected]).toEqual([object, names.has(stateOf(object))])
    else expect(isSelected).toBe(object.metadata.name === 'seen')
  }
})

test.each([
  { text: 'Silly-Demo_5tn5', words: ['silly', 'demo', '5tn5'] },
  {
    text: 'ghcr.io/vfarcic/silly-demo:v1.4.2-rc.1',
    words: ['ghcr', 'io', 'vfarcic', 'silly', 'demo', 'v1.4.2', 'rc', '1'],
  },
  { text: '.5. 10.0.0.1.', words: ['5', '10.0.0.1'] },
  { text: 'E\u0301T\u00c9 北京😀x', words: ['été', '北京', 'x'] },
])('words of $text', ({ text, words }) => expect(wordsOf(text)).toEqual(words))
