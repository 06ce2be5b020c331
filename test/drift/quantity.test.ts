import { describe, expect, test } from 'vitest'
import { canonicalQuantity } from '../../src/drift/quantity.ts'

describe('quantities in one spelling', () => {
  test.each([
    ['1000m', '1'],
    ['1', '1'],
    ['1.0', '1'],
    ['1e3', '1000'],
    ['1E3', '1000'],
    ['1k', '1000'],
    ['1E', '1000000000000000000'],
    ['1Ki', '1024'],
    ['0.5Gi', '536870912'],
    ['1.5', '1.5'],
    ['100m', '0.1'],
    ['1n', '0.000000001'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-1500m', '-1.5'],
    ['+2', '2'],
    ['-0', '0'],
    ['1e-3', '0.001'],
    ['9007199254740993', '9007199254740993'],
    ['many', 'many'],
    ['', ''],
    ['.', '.'],
    ['1 Gi', '1 Gi'],
  ])('%s is %s', (given, expected) => {
    expect(canonicalQuantity(given)).toBe(expected)
  })
})
