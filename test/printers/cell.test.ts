import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeCells, renderCells, splitRow } from '../../src/printers/cell.ts'
import { type Cell, TextWithTimes, TimeSince } from '../../src/printers/printer.ts'

const NOW = 1_764_558_645_000

function rendered(...cells: readonly Cell[]): string {
  return renderCells(encodeCells(cells), NOW).toString('utf8')
}

describe('a stored row, as it is sent', () => {
  test.each<[string, readonly Cell[], string]>([
    ['no cells', [], ''],
    ['texts', ['web', ''], '"web",""'],
    ['numbers and truth', [0, -1, 1.5, true, false, null], '0,-1,1.5,true,false,null'],
    ['digits beyond 2^53', [9223372036854775807n], '9223372036854775807'],
    ['a number that JSON cannot spell', [Number.NaN], 'null'],
    ['quotes, backslashes, lines', ['a"\\\n'], '"a\\"\\\\\\n"'],
    ['NUL and the bytes of marks in a text', ['\0\x01\x02'], '"\\u0000\\u0001\\u0002"'],
    ['a lone surrogate', ['\ud800'], '"\\ud800"'],
    ['other alphabets', ['größe 漢字 🚀'], '"größe 漢字 🚀"'],
    ['an age', [new TimeSince(NOW - 90_000)], '"90s"'],
    ['a time to come', [new TimeSince(NOW + 90_000)], '"<invalid>"'],
    ['a time before 1970', [new TimeSince(-1000)], '"55y"'],
    ['the first millisecond of 1970', [new TimeSince(0)], '"55y"'],
    ['a time that is no number', [new TimeSince(Number.NaN)], '"<unknown>"'],
    [
      'a text with ages in it',
      [new TextWithTimes('3 (', new TimeSince(NOW - 300_000), ' "ago")')],
      '"3 (5m \\"ago\\")"',
    ],
    [
      'ages among others',
      ['a', new TimeSince(NOW), 1, new TimeSince(NOW - 7_200_000), 'ü'],
      '"a","0s",1,"120m","ü"',
    ],
  ])('%s', (_, cells, text) => {
    expect(rendered(...cells)).toBe(text)
  })
})

test('the same row grows older', () => {
  const stored = encodeCells([new TimeSince(NOW)])
  const ages = [0, 5, 600].map((seconds) => renderCells(stored, NOW + seconds * 1000).toString())
  expect(ages).toEqual(['"0s"', '"5s"', '"10m"'])
})

test('a row without ages is not copied', () => {
  const stored = encodeCells(['a', 1])
  expect(renderCells(stored, NOW)).toBe(stored)
})

test('a row that is a part of a larger buffer', () => {
  const row = encodeCells(['ü', new TimeSince(NOW - 1000)])
  const page = Buffer.concat([Buffer.from('"\x01x'), row, Buffer.from('\x01y')])
  expect(renderCells(page.subarray(3, 3 + row.length), NOW).toString()).toBe('"ü","1s"')
})

const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constant(null),
  fc.integer().map((at) => new TimeSince(at)),
  fc
    .tuple(fc.string(), fc.integer(), fc.string())
    .map(([a, at, b]) => new TextWithTimes(a, new TimeSince(at), b)),
)

test('splitting takes a row apart at its cells', () => {
  fc.assert(
    fc.property(fc.array(cell), (cells) => {
      const parts = splitRow(encodeCells(cells)).cells.map((part) => part.toString())
      expect(parts).toEqual(cells.map((one) => encodeCells([one]).toString()))
    }),
  )
})

test('whatever the cells are, a rendered row is JSON', () => {
  fc.assert(
    fc.property(fc.array(cell), (cells) => {
      expect(JSON.parse(`[${rendered(...cells)}]`)).toHaveLength(cells.length)
    }),
  )
})
