/**
 * Field selectors as a real API server takes them: `metadata.name=x,status.phase!=Running`.
 *
 * This is the narrow form, for our own objects; what may be asked of mirrored objects is more:
 * field-selector.ts.
 *
 * @see apimachinery/pkg/fields/selector.go
 */
import { badRequest } from './status-error.ts'

export interface PlainFieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** @throws 400 `BadRequest`, also for a field that is not among `supported`. */
export function parsePlainFieldSelector(
  text: string,
  supported: readonly string[],
): readonly PlainFieldRequirement[] {
  const requirements = splitUnescaped(text)
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text))
  const unknown = requirements.find(({ field }) => !supported.includes(field))
  if (unknown) throw badRequest(`field label not supported: ${unknown.field}`)
  return requirements
}

function parseTerm(term: string, whole: string): PlainFieldRequirement {
  const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term)
  if (!match) throw badRequest(`invalid selector: '${whole}'; can't understand '${term}'`)
  const [, field = '', operator, value = ''] = match
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) }
}

/** Cuts at commas that no backslash protects. */
function splitUnescaped(text: string): readonly string[] {
  return text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? []
}

function unescapeValue(value: string): string {
  for (const [piece] of value.matchAll(/\\.|\\$|[=,]/gs)) {
    if (/^[=,]/.test(piece))
      throw badRequest(
        `invalid field selector: unescaped character in value: ${piece.codePointAt(0)}`,
      )
    if (!/^\\[\\,=]$/.test(piece))
      throw badRequest(`invalid field selector: invalid escape sequence: ${piece}`)
  }
  return value.replace(/\\(.)/gs, '$1')
}
