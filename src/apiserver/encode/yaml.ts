/**
 * JSON text → YAML that readers, of YAML 1.1 too, read back as the same values.
 *
 * Numbers keep every digit, because they are copied from the JSON text. Keys are sorted, as
 * kube-apiserver's YAML has them.
 */
import {
  type CollectionTag,
  Document,
  isScalar,
  Scalar,
  type ScalarTag,
  type ToStringOptions,
  visit,
} from 'yaml'

/** A number as the JSON text spells it. */
class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof NumberText,
  resolve: (text) => new NumberText(text),
  stringify: ({ value }) => (value instanceof NumberText ? value.text : String(value)),
}

/** Long lines stay whole, and a sequence stands at the indentation of its key: as Kubernetes writes. */
const STYLE: ToStringOptions = { lineWidth: 0, indentSeq: false, flowCollectionPadding: false }

/** A document without markers, ending with a newline. */
export function jsonToYaml(json: string): string {
  return toYaml(parse(json))
}

/**
 * One entry of a block sequence, under a key that has no indentation of its own.
 *
 * @returns `- kind: Pod\n  metadata: …\n`
 */
export function jsonToYamlItem(json: string): string {
  return toYaml([parse(json)])
}

function parse(json: string): unknown {
  return JSON.parse(maskKeys(json), (_key, value, context?: { source?: string }) =>
    typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value,
  )
}

/** In front of a key that is spelled in hexadecimal: a character for private use. */
const MASK = '\ue000'
const STRING = /"((?:[^"\\]|\\.)*)"(\s*:)?/gs

/**
 * Spells keys without escapes. The V8 of Node 24 takes a key with escapes for one that an object of
 * the same shape had before: after `{"\\":1}` it reads `{"\"":1}` as the same.
 */
function maskKeys(json: string): string {
  if (!json.includes('\\') && !json.includes(MASK)) return json
  return json.replace(STRING, (string, text: string, colon?: string) => {
    const isOdd = colon !== undefined && (text.includes('\\') || text.includes(MASK))
    if (!isOdd) return string
    const key: string = JSON.parse(`"${text}"`)
    return `"${MASK}${Buffer.from(key, 'utf16le').toString('hex')}"${colon}`
  })
}

function unmasked(key: string): string {
  return key.startsWith(MASK) ? Buffer.from(key.slice(1), 'hex').toString('utf16le') : key
}

function toYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    aliasDuplicateObjects: false,
    sortMapEntries: ({ key: a }, { key: b }) => Buffer.compare(nameOf(a), nameOf(b)),
    customTags: (tags) => [...tags.filter((tag) => !isMerge(tag)), NUMBER],
  })
  visit(document, {
    Scalar(position, scalar) {
      if (position === 'key') scalar.value = unmasked(String(scalar.value))
      if (isMisread(scalar.value, position)) scalar.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString(STYLE)
}

/** What the library writes plain, and a reader takes for a merge or a byte order mark. */
function isMisread(value: unknown, position: number | 'key' | 'value' | null): boolean {
  if (typeof value !== 'string') return false
  return value.startsWith('\ufeff') || (position === 'key' && value === '<<')
}

function isMerge(tag: ScalarTag | CollectionTag | string): boolean {
  return typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:merge'
}

function nameOf(key: unknown): Buffer {
  return Buffer.from(unmasked(String(isScalar(key) ? key.value : key)))
}
