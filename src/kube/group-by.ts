/** `groupBy=cluster,namespace,status.phase`: what objects are counted by. */
import { type FieldPath, parseFieldPath } from './field-selector.ts'
import { StatusError } from './status-error.ts'

export interface GroupKey {
  /** As typed. */
  readonly name: string
  readonly by: 'cluster' | 'namespace' | FieldPath
}

const KEYS_MOST = 8

/** @throws 400 `BadRequest` for what is neither a word we know nor a path. Empty: no groups. */
export function parseGroupBy(text: string): readonly GroupKey[] {
  const names = text.split(',').map((name) => name.trim())
  const keys = [...new Set(names)].filter((name) => name !== '').map(parseKey)
  if (keys.length <= KEYS_MOST) return keys
  throw new StatusError('BadRequest', `"groupBy" takes no more than ${KEYS_MOST} keys`)
}

function parseKey(name: string): GroupKey {
  if (name === 'cluster' || name === 'namespace') return { name, by: name }
  // A word alone is sooner a mistake than a field: objects have next to nothing at the top.
  if (/[.[]/.test(name)) return { name, by: parseFieldPath(name) }
  const allowed = 'cluster, namespace, or the path of a field, such as status.phase'
  throw new StatusError(
    'BadRequest',
    `"groupBy": Unsupported value: ${JSON.stringify(name)}: supported values: ${allowed}`,
  )
}
