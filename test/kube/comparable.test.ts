import { describe, expect, test } from 'vitest'
import { compareComparables, parseComparable } from '../../src/kube/comparable.ts'
import { NO_SIZE, SIZES } from '../support/sizes.ts'

describe('what has a size', () => {
  for (const [i, group] of SIZES.entries()) {
    test.each(group)('%s is as large as those beside it, and more than those before', (text) => {
      const found = parseComparable(text)!
      for (const other of group) expect(compareComparables(found, parseComparable(other)!)).toBe(0)
      for (const smaller of SIZES.slice(0, i).flat()) {
        const difference = compareComparables(found, parseComparable(smaller)!)
        expect(difference).toBe(found.kind === parseComparable(smaller)!.kind ? 1 : undefined)
      }
    })
  }
})

test.each(NO_SIZE)('%j has none', (text) => expect(parseComparable(text)).toBeUndefined())
