/** The few fields of an object's metadata that are needed when the rest is not, or is not fit. */
import type { ObjectKey } from '../store/object-row.ts'
import { JsonError, members, OPEN_BRACE, QUOTE, stringOf } from './json-bytes.ts'

/** metadata's texts among the names asked for. @throws JsonError */
function metadataTexts(object: Buffer, wanted: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const member of members(object)) {
    if (member.key !== 'metadata' || object[member.start] !== OPEN_BRACE) continue
    texts.clear()
    for (const { key, start, end } of members(object, member.start)) {
      if (!wanted.includes(key)) continue
      if (object[start] === QUOTE) texts.set(key, stringOf(object, { start, end }))
      else texts.delete(key)
    }
  }
  return texts
}

/** The object's resourceVersion; `''` when it has none. @throws JsonError */
export function versionOf(object: Buffer): string {
  return plainVersion(metadataTexts(object, ['resourceVersion']).get('resourceVersion') ?? '')
}

const VERSION_MOST_CHARACTERS = 1024

/** What is to be kept, and asked for in a URL. @throws JsonError */
export function plainVersion(version: string): string {
  const fits = version.length <= VERSION_MOST_CHARACTERS && /^[\x21-\x7e]*$/.test(version)
  if (!fits) throw new JsonError('the resourceVersion is not plain text')
  return version
}

/** @throws JsonError when the object has no name. */
export function identityOf(object: Buffer): ObjectKey {
  const texts = metadataTexts(object, ['namespace', 'name'])
  const name = texts.get('name')
  if (!name) throw new JsonError('the object has no metadata.name')
  return { namespace: texts.get('namespace') ?? '', name }
}
