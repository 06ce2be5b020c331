import { describe, expect, test } from 'vitest'
import { quantityText } from '../../src/printers/quantity.ts'

describe('quantityText', () => {
  test.each<[string, unknown, string]>([
    ['missing', undefined, '0'],
    ['null', null, '0'],
    ['zero', '0', '0'],
    ['zero with a unit', '0Gi', '0'],
    ['minus zero', '-0', '0'],
    ['canonical binary', '10Gi', '10Gi'],
    ['a fraction of a binary unit', '1.5Gi', '1536Mi'],
    ['binary, a multiple of the next unit', '2048Mi', '2Gi'],
    ['binary below 1024', '0.5Ki', '512'],
    ['binary that is not whole', '1.0001Ki', '1024102400u'],
    ['negative binary', '-2048Mi', '-2Gi'],
    ['canonical decimal', '1500m', '1500m'],
    ['a fraction', '1.5', '1500m'],
    ['a small fraction', '0.0000005', '500n'],
    ['below a billionth, some is not none', '0.0000000001', '1n'],
    ['thousands', '1000', '1k'],
    ['thousandths that make a whole', '2000m', '2'],
    ['megabytes', '500M', '500M'],
    ['a plus sign', '+5', '5'],
    ['a dot at the end', '5.', '5'],
    ['a dot at the beginning', '.5', '500m'],
    ['an exponent', '1e3', '1e3'],
    ['an exponent that is no multiple of three', '12e7', '120e6'],
    ['an exponent of small numbers', '1500E-3', '1500e-3'],
    ['an exponent that is not needed', '5e0', '5'],
    ['exa is no exponent', '2E', '2E'],
    ['more than 64 bits', '100E', '9223372036854775807'],
    ['a JSON number', 5, '5'],
    ['a large JSON number', 3000n, '3k'],
    ['no quantity', 'lots', 'lots'],
    ['nothing but a unit', 'Gi', 'Gi'],
    ['an absurd exponent', '1e999999999', '1e999999999'],
    ['an object', { value: 1 }, '0'],
  ])('%s', (_, value, text) => {
    expect(quantityText(value)).toBe(text)
  })
})
