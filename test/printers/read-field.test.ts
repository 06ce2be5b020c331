import { describe, expect, test } from 'vitest'
import { count, integer, nameOf, texts, timeOf } from '../../src/printers/read-field.ts'

describe('timeOf', () => {
  test.each<[string, unknown, number | undefined]>([
    ['UTC', '2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1)],
    ['an offset', '2026-01-01T01:00:00+01:00', Date.UTC(2026, 0, 1)],
    ['microseconds', '2026-01-01T00:00:00.123456Z', Date.UTC(2026, 0, 1, 0, 0, 0, 123)],
    ['29 February of a leap year', '2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['29 February of another year', '2026-02-29T00:00:00Z', undefined],
    ['31 April', '2026-04-31T00:00:00Z', undefined],
    ['a thirteenth month', '2026-13-01T00:00:00Z', undefined],
    ['24 o’clock', '2026-01-01T24:00:00Z', undefined],
    ['25 o’clock', '2026-01-01T25:00:00Z', undefined],
    ['a date alone', '2026-01-01', undefined],
    ['no zone', '2026-01-01T00:00:00', undefined],
    ['words that Date would take', 'Jan 1, 2026', undefined],
    ['digits', '5', undefined],
    ['a number', 1767225600000, undefined],
    ['Go’s zero time', '0001-01-01T00:00:00Z', undefined],
    ['null', null, undefined],
  ])('%s', (_, timestamp, at) => {
    expect(timeOf(timestamp)).toBe(at)
  })
})

test('a value of another type reads as nothing', () => {
  expect(integer('3')).toBe(0)
  expect(integer(1.5)).toBe(0)
  expect(integer(9007199254740993n)).toBe(9007199254740993n)
  expect(count(12n)).toBe(12)
  expect(texts(['a', 1, null, 'b'])).toEqual(['a', 'b'])
  expect(texts('ab')).toEqual([])
  expect(nameOf({ metadata: [] as never })).toBe('')
})
