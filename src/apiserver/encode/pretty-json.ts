/**
 * Indents JSON on its way out, byte by byte: nothing is parsed, so every digit and escape stays.
 *
 * The layout is that of Go's json.MarshalIndent with two spaces; so kube-apiserver answers
 * `pretty=true`.
 */
import type { ByteSink } from './byte-sink.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const NEWLINE = 0x0a
const SPACE = 0x20

/** Takes one JSON text in any number of pieces, cut anywhere. */
export class PrettyJson implements ByteSink {
  readonly #out: ByteSink
  #depth = 0
  #inString = false
  #escaped = false
  /** Just opened: `{}` and `[]` stay together. */
  #opened = false
  #buffer = Buffer.allocUnsafe(16 * 1024)
  #used = 0

  constructor(out: ByteSink) {
    this.#out = out
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    this.#used = 0
    for (const byte of bytes) {
      if (this.#inString) this.#stringByte(byte)
      else this.#structureByte(byte)
    }
    return this.#out.write(this.#buffer.subarray(0, this.#used))
  }

  #stringByte(byte: number): void {
    this.#put(byte)
    if (this.#escaped) this.#escaped = false
    else if (byte === BACKSLASH) this.#escaped = true
    else if (byte === QUOTE) this.#inString = false
  }

  #structureByte(byte: number): void {
    if (isSpace(byte)) return
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close(byte)
    else this.#other(byte)
  }

  #other(byte: number): void {
    if (this.#opened) this.#newLine()
    this.#opened = false
    this.#put(byte)
    if (byte === QUOTE) this.#inString = true
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#depth++
      this.#opened = true
    } else if (byte === COMMA) this.#newLine()
    else if (byte === COLON) this.#put(SPACE)
  }

  #close(byte: number): void {
    this.#depth--
    if (!this.#opened) this.#newLine()
    this.#opened = false
    this.#put(byte)
  }

  #newLine(): void {
    this.#put(NEWLINE)
    for (let i = 0; i < this.#depth * 2; i++) this.#put(SPACE)
  }

  #put(byte: number): void {
    if (this.#used === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2)
      this.#buffer.copy(larger)
      this.#buffer = larger
    }
    this.#buffer[this.#used++] = byte
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === NEWLINE || byte === 0x0d || byte === 0x09
}

/** One JSON text that is there as a whole. */
export function indentJson(json: Uint8Array): Buffer {
  const pieces: Buffer[] = []
  const pretty = new PrettyJson({
    write: (bytes) => {
      pieces.push(Buffer.from(bytes))
      return undefined
    },
  })
  void pretty.write(json)
  return Buffer.concat(pieces)
}

/**
 * Whether the reader is a person: `pretty` in the query, else by the tool that asks.
 *
 * @see apiserver/pkg/endpoints/handlers/responsewriters/writers.go, isPrettyPrint
 */
export function wantsPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
  const pretty = query.get('pretty')
  if (pretty) return ['1', 't', 'true'].includes(pretty.toLowerCase())
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent ?? '')
}
