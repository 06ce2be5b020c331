/** Tables of objects and of what some of their columns print. */
import { describe, expect, test } from 'vitest'
import { FIVE_MINUTES_AGO, rowOf } from './print.ts'

type Fields = Record<string, unknown>
type Situation = readonly [situation: string, object: Fields, row: Fields]

/** @param situations - By qualified resource: `deployments.apps`. */
export function describeSituations(
  situations: Readonly<Record<string, readonly Situation[]>>,
): void {
  describe.each(Object.entries(situations))('%s', (resource, rows) => {
    test.each(rows)('%s', (_, object, row) => {
      expect(rowOf(resource, object)).toMatchObject(row)
    })
  })
}

export const metadata = (more: Fields) => ({ metadata: { name: 'n', ...more } })
export const deleted = metadata({ deletionTimestamp: FIVE_MINUTES_AGO })
export const conditions = (
  ...list: ReadonlyArray<readonly [type: string, status: string, reason?: string]>
) => ({
  status: { conditions: list.map(([type, status, reason]) => ({ type, status, reason })) },
})
