/**
 * What a label key and a label value may look like, and kube-apiserver's sentences when they do not.
 *
 * Each function returns every complaint, in upstream's order; none means that the text is fine.
 *
 * @see apimachinery/pkg/util/validation/validation.go
 */

const NAME_MOST_BYTES = 63
const SUBDOMAIN_MOST_BYTES = 253

const NAME_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const VALUE_PATTERN = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'
const SUBDOMAIN_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'

const QUALIFIED_NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
  `validation is '${NAME_PATTERN}')`
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " +
  `'12345', regex used for validation is '${VALUE_PATTERN}')`
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for " +
  `validation is '${SUBDOMAIN_PATTERN}')`

const NAME = new RegExp(`^${NAME_PATTERN}$`)
const VALUE = new RegExp(`^${VALUE_PATTERN}$`)
const SUBDOMAIN = new RegExp(`^${SUBDOMAIN_PATTERN}$`)

/** Complaints about a label or annotation key: `name`, or `prefix.example.com/name`. */
export function labelKeyProblems(key: string): readonly string[] {
  const parts = key.split('/')
  if (parts.length > 2) {
    const prefixRule = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    return [`a qualified name ${QUALIFIED_NAME_RULE} ${prefixRule}`]
  }
  const name = parts.at(-1)!
  const prefix = parts.length === 2 ? prefixProblems(parts[0]!) : []
  return [...prefix, ...nameProblems(name)]
}

function prefixProblems(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  return subdomainProblems(prefix).map((problem) => `prefix part ${problem}`)
}

function nameProblems(name: string): readonly string[] {
  return [
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(byteLength(name) > NAME_MOST_BYTES ? [`name part ${tooLong(NAME_MOST_BYTES)}`] : []),
    ...(NAME.test(name) ? [] : [`name part ${QUALIFIED_NAME_RULE}`]),
  ]
}

export function labelValueProblems(value: string): readonly string[] {
  return [
    ...(byteLength(value) > NAME_MOST_BYTES ? [tooLong(NAME_MOST_BYTES)] : []),
    ...(VALUE.test(value) ? [] : [VALUE_RULE]),
  ]
}

/** Complaints about a lower-case DNS subdomain: what most objects' names must be. */
export function subdomainProblems(text: string): readonly string[] {
  return [
    ...(byteLength(text) > SUBDOMAIN_MOST_BYTES ? [tooLong(SUBDOMAIN_MOST_BYTES)] : []),
    ...(SUBDOMAIN.test(text) ? [] : [SUBDOMAIN_RULE]),
  ]
}

function tooLong(most: number): string {
  return `must be no more than ${most} bytes`
}

function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
