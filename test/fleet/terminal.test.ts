import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { paintFor, progressOn } from '../../src/cli/fleet/terminal.ts'
import { sweepEnvironment } from '../../src/config.ts'

const TERMINAL = { isTTY: true }
const PIPE = {}
const WORDS = ['pass', 'fail', 'inconclusive', 'unreachable'] as const

describe('colours', () => {
  test.each(WORDS)('%s on a terminal: the word stays, with its padding', (word) => {
    const painted = paintFor(TERMINAL, false)(word, `${word}   `)
    expect(painted).not.toBe(`${word}   `)
    expect(stripVTControlCharacters(painted)).toBe(`${word}   `)
  })

  test.each([
    ['into a pipe', PIPE, {}],
    ['with NO_COLOR', TERMINAL, { NO_COLOR: '1' }],
    ['on a terminal that has none', TERMINAL, { TERM: 'dumb' }],
  ])('none %s', (_, stream, environment) => {
    const { noColor } = sweepEnvironment(environment)
    expect(paintFor(stream, noColor)('fail', 'fail  ')).toBe('fail  ')
  })

  test('an empty NO_COLOR says nothing, as no-color.org has it', () => {
    expect(sweepEnvironment({ NO_COLOR: '', TERM: 'xterm' }).noColor).toBe(false)
  })
})

describe('how far a sweep is', () => {
  function shownOn(isTTY: boolean): string {
    let shown = ''
    const progress = progressOn({ isTTY, write: (text) => (shown += text) }, 3)
    progress(1)
    progress(3)
    progress.clear()
    return shown
  }

  test('is told on one line of a terminal, which is empty in the end', () => {
    const states = shownOn(true).split('\r').map(stripVTControlCharacters)
    expect(states).toEqual(['', ...[0, 1, 3].map((done) => `checked ${done} of 3 clusters`), ''])
  })

  test('is not told to a pipe', () => expect(shownOn(false)).toBe(''))
})
