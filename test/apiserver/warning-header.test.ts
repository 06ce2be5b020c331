import { expect, test } from 'vitest'
import { warningHeaders } from '../../src/apiserver/encode/warning-header.ts'

test('few warnings are whole, and said once', () => {
  expect(warningHeaders(['a'.repeat(300), 'b', 'b'])).toEqual([
    `299 - "${'a'.repeat(300)}"`,
    '299 - "b"',
  ])
})

test('what a header cannot hold is replaced, and what ends a quoted string is escaped', () => {
  expect(warningHeaders(['x509: "ä"\r\nX-Evil: \\1'])).toEqual([
    '299 - "x509: \\"?\\" X-Evil: \\\\1"',
  ])
})

test('of more than a client takes, those that fit, each cut', () => {
  const headers = warningHeaders(
    Array.from({ length: 50_000 }, (_, i) => `${i} ${'x'.repeat(400)}`),
  )
  expect(headers).toHaveLength(16)
  expect(headers[0]).toBe(`299 - "0 ${'x'.repeat(254)}"`)
})
