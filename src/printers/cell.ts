/**
 * The stored form of a row's cells: JSON values joined by commas, ready to be sent but for ages.
 *
 * An age stands inside a JSON string as a mark: byte 1, milliseconds since 1970 in decimal, byte 2.
 * JSON text never holds those bytes raw, so no object can forge a mark or be taken for one.
 */
import { formatAge } from './age.ts'
import { type Cell, TextWithTimes, TimeSince } from './printer.ts'

const MARK_START = 1
const MARK_END = 2
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/** What kubectl prints for a time that is not known; also of a time that is no number. */
export const UNKNOWN_TIME = '<unknown>'

/** Cells as they are stored: `"web-0",3,"\x011764558645000\x02"`, without brackets. */
export function encodeCells(cells: readonly Cell[]): Buffer {
  let text = ''
  for (const cell of cells) {
    if (text !== '') text += ','
    text += encodeCell(cell)
  }
  return Buffer.from(text, 'utf8')
}

function encodeCell(cell: Cell): string {
  if (typeof cell === 'string') return JSON.stringify(cell)
  if (typeof cell === 'bigint') return cell.toString()
  if (cell instanceof TimeSince) return `"${mark(cell)}"`
  if (cell instanceof TextWithTimes) return `"${cell.parts.map(encodePart).join('')}"`
  return JSON.stringify(cell) // a number that JSON cannot spell becomes null
}

function encodePart(part: string | TimeSince): string {
  return typeof part === 'string' ? JSON.stringify(part).slice(1, -1) : mark(part)
}

function mark(time: TimeSince): string {
  return Number.isFinite(time.at) ? `\x01${Math.trunc(time.at)}\x02` : UNKNOWN_TIME
}

/**
 * Replaces every mark by the age it has at `nowMilliseconds`.
 *
 * @returns JSON values joined by commas; `stored` itself when no cell holds a time.
 */
export function renderCells(stored: Buffer, nowMilliseconds: number): Buffer {
  let start = stored.indexOf(MARK_START)
  if (start < 0) return stored
  const pieces: Buffer[] = []
  let done = 0
  while (start >= 0) {
    const end = stored.indexOf(MARK_END, start)
    const at = Number(stored.toString('latin1', start + 1, end))
    pieces.push(stored.subarray(done, start), ageBytes((nowMilliseconds - at) / 1000))
    done = end + 1
    start = stored.indexOf(MARK_START, done)
  }
  pieces.push(stored.subarray(done))
  return Buffer.concat(pieces)
}

function ageBytes(seconds: number): Buffer {
  return Buffer.from(formatAge(seconds), 'latin1')
}

/** The cells one by one, for an answer whose columns are not the row's. Marks stay in place. */
export function splitCells(stored: Buffer): Buffer[] {
  if (stored.length === 0) return []
  const cells: Buffer[] = []
  let start = 0
  let inString = false
  for (let i = 0; i < stored.length; i++) {
    const byte = stored[i]
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === COMMA) {
      cells.push(stored.subarray(start, i))
      start = i + 1
    }
  }
  cells.push(stored.subarray(start))
  return cells
}
