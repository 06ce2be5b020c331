import { describe, expect, test } from 'vitest'
import { formatAge } from '../../src/printers/age.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

describe('formatAge', () => {
  test.each([
    ['far in the future', -3600, '<invalid>'],
    ['two seconds in the future', -2, '<invalid>'],
    ['less than two seconds in the future', -1.9, '0s'],
    ['a clock one second apart', -1, '0s'],
    ['just now', 0, '0s'],
    ['a fraction is cut off', 1.99, '1s'],
    ['last of the seconds', 2 * MINUTE - 1, '119s'],
    ['first of the minutes', 2 * MINUTE, '2m'],
    ['minutes and seconds', 2 * MINUTE + 1, '2m1s'],
    ['last with seconds', 10 * MINUTE - 1, '9m59s'],
    ['minutes alone', 10 * MINUTE + 59, '10m'],
    ['last of the minutes', 3 * HOUR - 1, '179m'],
    ['first of the hours', 3 * HOUR, '3h'],
    ['hours and minutes', 3 * HOUR + 5 * MINUTE, '3h5m'],
    ['last with minutes', 8 * HOUR - 1, '7h59m'],
    ['hours alone', 8 * HOUR + 59 * MINUTE, '8h'],
    ['last of the hours', 2 * DAY - 1, '47h'],
    ['first of the days', 2 * DAY, '2d'],
    ['days and hours', 2 * DAY + HOUR, '2d1h'],
    ['last with hours', 8 * DAY - 1, '7d23h'],
    ['days alone', 8 * DAY + 23 * HOUR, '8d'],
    ['last of the days', 2 * YEAR - 1, '729d'],
    ['first of the years', 2 * YEAR, '2y'],
    ['years and days', 2 * YEAR + DAY, '2y1d'],
    ['last with days', 8 * YEAR - 1, '7y364d'],
    ['years alone', 8 * YEAR + 300 * DAY, '8y'],
    ['beyond what a duration in Go can hold', 2000 * YEAR, '292y'],
    ['no number', Number.NaN, '<invalid>'],
  ])('%s', (_, seconds, text) => {
    expect(formatAge(seconds)).toBe(text)
  })
})
