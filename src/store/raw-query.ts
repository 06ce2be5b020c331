/**
 * One query on one pg connection whose rows are left as the bytes that PostgreSQL sent.
 *
 * pg would make a string of every field. This takes the connection's socket from pg's parser for
 * the time of a query, speaks the extended protocol with row limits, and gives the socket back
 * with ReadyForQuery, which pg's parser gets to see, so that the client goes on as after any query.
 *
 * Owns     messages, errors, and how many rows are asked for at once.
 * Not here how long a query may stay open (portal-reader.ts), what a row means (raw-row.ts).
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { serialize } from 'pg-protocol'
import { MessageReader } from './message-reader.ts'

export interface RawStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

export interface RawQueryEvents {
  /** The body of a DataRow message: a slice of the chunk it arrived in. */
  row(body: Buffer): void
  /** As many rows as were asked for have come; there may be more. */
  suspended(): void
  /** No row follows. */
  complete(): void
  /** The query failed; `ready` follows. */
  failed(error: Error): void
  /** The connection is pg's again. */
  ready(): void
  /** The connection broke: nothing follows. */
  lost(error: Error): void
}

const HEADER_BYTES = 5
const TYPE = {
  dataRow: 0x44, // D
  portalSuspended: 0x73, // s
  commandComplete: 0x43, // C
  error: 0x45, // E
  ready: 0x5a, // Z
  notice: 0x4e, // N
  parameter: 0x53, // S
  notification: 0x41, // A
} as const

type Listener = (chunk: Buffer) => void

export class RawQuery implements pg.Submittable {
  readonly #statement: RawStatement
  readonly #firstRows: number
  readonly #events: RawQueryEvents
  readonly #reader = new MessageReader((type, frame) => this.#receive(type, frame))
  readonly #onData = (chunk: Buffer) => this.#read(chunk)
  readonly #onClose = () => this.#lose(new Error('Connection terminated unexpectedly'))
  #stream: Duplex | undefined
  #parsers: Listener[] = []
  #isSynced = false

  constructor(statement: RawStatement, firstRows: number, events: RawQueryEvents) {
    this.#statement = statement
    this.#firstRows = firstRows
    this.#events = events
  }

  /** Called by pg when it is this query's turn. */
  submit(connection: pg.Connection): void {
    const { sql, parameters } = this.#statement
    const stream = connection.stream
    this.#parsers = stream.listeners('data') as Listener[]
    for (const parser of this.#parsers) stream.off('data', parser)
    stream.on('data', this.#onData)
    stream.once('close', this.#onClose)
    this.#stream = stream
    stream.write(
      Buffer.concat([
        serialize.parse({ text: sql }),
        serialize.bind({ values: parameters.map(boundText) }),
        serialize.execute({ rows: this.#firstRows }),
        serialize.flush(),
      ]),
    )
  }

  /** After `suspended`: asks for more rows. */
  more(rows: number): void {
    this.#stream?.write(Buffer.concat([serialize.execute({ rows }), serialize.flush()]))
  }

  /** Ends the portal and its transaction; `ready` follows when what was asked for has passed. */
  close(): void {
    if (this.#isSynced) return
    this.#isSynced = true
    this.#stream?.write(Buffer.concat([serialize.close({ type: 'P' }), serialize.sync()]))
    this.#stream?.resume()
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  /** Called by pg: for an error message that was passed to it, or when the connection breaks. */
  handleError(error: Error): void {
    if (!('severity' in error)) {
      this.#lose(error)
      return
    }
    // The server skips everything up to a Sync.
    this.close()
    this.#events.failed(error)
  }

  /** Called by pg, but not after an error: so `ready` comes from {@link #receive}. */
  handleReadyForQuery(): void {
    // Nothing is left to do.
  }

  #read(chunk: Buffer): void {
    const rest = this.#reader.push(chunk)
    if (rest && rest.length > 0) for (const parser of this.#parsers) parser(rest)
  }

  #receive(type: number, frame: Buffer): boolean {
    switch (type) {
      case TYPE.dataRow:
        this.#events.row(frame.subarray(HEADER_BYTES))
        return false
      case TYPE.portalSuspended:
        this.#events.suspended()
        return false
      case TYPE.commandComplete:
        this.close()
        this.#events.complete()
        return false
      case TYPE.error:
      case TYPE.notice:
      case TYPE.parameter:
      case TYPE.notification:
        this.#pass(frame)
        return false
      case TYPE.ready:
        this.#handBack()
        this.#pass(frame)
        this.#events.ready()
        return true
      default:
        return false
    }
  }

  /** What concerns the connection is for pg's own parser. */
  #pass(frame: Buffer): void {
    for (const parser of this.#parsers) parser(frame)
  }

  #handBack(): void {
    const stream = this.#stream
    if (!stream) return
    this.#stream = undefined
    stream.off('close', this.#onClose)
    stream.off('data', this.#onData)
    for (const parser of this.#parsers) stream.on('data', parser)
    stream.resume()
  }

  #lose(error: Error): void {
    if (!this.#stream) return
    this.#handBack()
    this.#events.lost(error)
  }
}

function boundText(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  throw new TypeError(`a bound value must be text or a number, not ${typeof value}`)
}
