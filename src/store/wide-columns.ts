/** The wide columns of a row: fetched only when wanted. */
import type { ListRequest } from './list-request.ts'

export type WideColumn = 'cells' | 'head' | 'metadata' | 'tail'

/** In the order in which they are selected. */
export function wideColumns(want: ListRequest['want']): readonly WideColumn[] {
  return [
    ...(want.cells ? (['cells'] as const) : []),
    ...(want.body ? (['head'] as const) : []),
    ...(want.body || want.metadata ? (['metadata'] as const) : []),
    ...(want.body ? (['tail'] as const) : []),
  ]
}
