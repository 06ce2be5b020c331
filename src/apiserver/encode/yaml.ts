/**
 * JSON text → YAML that readers, of YAML 1.1 too, read back as the same values.
 *
 * Numbers keep every digit, because they are copied from the JSON text. Keys are sorted, as
 * kube-apiserver's YAML has them.
 */

/** A number as the JSON text spells it. */
class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value =
  | null
  | boolean
  | string
  | NumberText
  | readonly Value[]
  | { readonly [key: string]: Value }

/** Lines joined by newlines, ending with one; each starts with `indent`. */
export function jsonToYaml(json: string, indent = ''): string {
  return block(parse(json), indent)
}

/**
 * One entry of a block sequence, under a key that has no indentation of its own.
 *
 * @returns `- kind: Pod\n  metadata: …\n`
 */
export function jsonToYamlItem(json: string): string {
  return item(parse(json), '')
}

function parse(json: string): Value {
  return JSON.parse(json, (_key, value, context?: { source?: string }) =>
    typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value,
  ) as Value
}

function block(value: Value, indent: string): string {
  if (isList(value) && value.length > 0) return value.map((entry) => item(entry, indent)).join('')
  if (isObject(value)) {
    const keys = Object.keys(value).toSorted(byCodePoint)
    if (keys.length > 0) return keys.map((key) => entryOf(key, value[key]!, indent)).join('')
  }
  return `${indent}${scalar(value, indent)}\n`
}

function item(entry: Value, indent: string): string {
  const inner = `${indent}  `
  if (isEmptyOrScalar(entry)) return `${indent}- ${scalar(entry, inner)}\n`
  return `${indent}- ${block(entry, inner).slice(inner.length)}`
}

/** A sequence stands at the indentation of its key, as Kubernetes writes it. */
function entryOf(key: string, value: Value, indent: string): string {
  const name = scalar(key, indent, 'key')
  if (isEmptyOrScalar(value)) return `${indent}${name}: ${scalar(value, `${indent}  `)}\n`
  return `${indent}${name}:\n${block(value, isList(value) ? indent : `${indent}  `)}`
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

function isObject(value: Value): value is { readonly [key: string]: Value } {
  return (
    typeof value === 'object' && value !== null && !isList(value) && !(value instanceof NumberText)
  )
}

function isEmptyOrScalar(value: Value): boolean {
  if (isList(value)) return value.length === 0
  return isObject(value) ? Object.keys(value).length === 0 : true
}

function scalar(value: Value, indent: string, as: 'key' | 'value' = 'value'): string {
  if (value instanceof NumberText) return value.text
  if (typeof value === 'string') return text(value, indent, as)
  if (isList(value)) return '[]'
  return isObject(value) ? '{}' : String(value)
}

/** Plain only where no reader can take it for anything else. */
const PLAIN = /^[A-Za-z/_][\w./@%+ -]*(?::[\w./@%+-]+)*$/
/** What YAML 1.1 or Go's reader takes for a boolean, null or number. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i
/** An implicit key must fit 1024 characters. */
const LONGEST_KEY = 1000

function text(value: string, indent: string, as: 'key' | 'value'): string {
  if (PLAIN.test(value) && !value.endsWith(' ') && !RESERVED.test(value)) {
    if (as === 'value' || value.length <= LONGEST_KEY) return value
  }
  if (as === 'value' && isBlockText(value)) return literal(value, indent)
  const quoted = doubleQuoted(value)
  return as === 'key' && quoted.length > LONGEST_KEY ? `? ${quoted}\n${indent}` : quoted
}

/** Lines that a literal block keeps as they are: no odd characters, nothing to guess about indents. */
function isBlockText(value: string): boolean {
  return (
    value.includes('\n') &&
    /^[^\s]/.test(value) &&
    !/[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]| \n| $|\u2028|\u2029/.test(value)
  )
}

function literal(value: string, indent: string): string {
  const keep = value.endsWith('\n\n') ? '+' : ''
  const chomp = value.endsWith('\n') ? keep : '-'
  const body = value.replace(/\n$/, '')
  const lines = body.split('\n').map((line) => (line === '' ? '' : `${indent}${line}`))
  return `|${chomp}\n${lines.join('\n')}`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
}

/** YAML joins no surrogate pairs, so only a lone one is escaped. */
function doubleQuoted(value: string): string {
  const escaped = value.replace(
    /["\\\n\t\r\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/gu,
    (character) => ESCAPES[character] ?? unicodeEscape(character),
  )
  return `"${escaped}"`
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
