/**
 * The stored form of a row: its cells, JSON values joined by commas, ready to be sent but for ages.
 *
 * A row with conditions goes on behind them: `"job","0/1"],"conditions":[{…}`. It is sent between
 * the same brackets as the others, so no reader looks for conditions. Outside a string, cells have
 * no bracket.
 *
 * An age stands inside a JSON string as a mark: byte 1, milliseconds since 1970 in decimal, byte 2.
 * JSON text never holds those bytes raw, so no object can forge a mark or be taken for one.
 */
import type { KubeObject } from '../kube/kube-object.ts'
import { formatAge } from './age.ts'
import { type Cell, type Printer, TextWithTimes, TimeSince } from './printer.ts'

const MARK_START = 1
const MARK_END = 2
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d

/** What kubectl prints for a time that is not known; also of a time that is no number. */
export const UNKNOWN_TIME = '<unknown>'

/** The row of one object as it is stored. */
export function encodeRow({ cells, conditions }: Printer, object: KubeObject): Buffer {
  const encoded = encodeCells(cells(object))
  const found = conditions?.(object) ?? []
  if (found.length === 0) return encoded
  const rest = JSON.stringify(found).slice(0, -1)
  return Buffer.concat([encoded, Buffer.from(`],"conditions":${rest}`)])
}

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

/** A row taken apart: its cells, and what is stored behind them. */
export interface RowParts {
  readonly cells: readonly Buffer[]
  /** Empty for a row without conditions. */
  readonly rest: Buffer
}

/** For an answer whose columns are not the row's. Marks stay in place. */
export function splitRow(stored: Buffer): RowParts {
  const cells: Buffer[] = []
  let start = 0
  for (;;) {
    const end = endOfCell(stored, start)
    if (end > start) cells.push(stored.subarray(start, end))
    if (stored[end] !== COMMA) return { cells, rest: stored.subarray(end) }
    start = end + 1
  }
}

function endOfCell(stored: Buffer, start: number): number {
  let inString = false
  for (let i = start; i < stored.length; i++) {
    const byte = stored[i]
    if (byte === QUOTE) inString = !inString
    else if (inString && byte === BACKSLASH) i++
    else if (!inString && (byte === COMMA || byte === CLOSE_BRACKET)) return i
  }
  return stored.length
}
