/** `includeObject` of a Table: how much of each object goes with its row. */
import { StatusError } from '../../kube/status-error.ts'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws 400 `BadRequest` in kube-apiserver's words. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const text = query.get('includeObject') ?? ''
  switch (text) {
    case '':
      return 'Metadata'
    case 'None':
    case 'Metadata':
    case 'Object':
      return text
    default:
      throw new StatusError(
        'BadRequest',
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(text)}: ` +
          "must be 'Metadata', 'Object', 'None', or empty",
      )
  }
}
