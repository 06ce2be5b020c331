/**
 * A fleet file: a YAML list of clusters, each a context, perhaps of another kubeconfig, perhaps by
 * another name.
 *
 * It is read strictly: a key that is not known might be a server or a token that someone believes
 * to be in use.
 */
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type YAMLMap } from 'yaml'
import { sanitiseName } from './row-name.ts'

export interface FleetEntry {
  readonly context: string
  readonly kubeconfig?: string
  /** Safe to print; the context when none is given. */
  readonly name: string
}

/** Its message says what is wrong, and never holds a value of the file but a name. */
export class InvalidFleetFile extends Error {
  override readonly name = 'InvalidFleetFile'
}

const FIELDS = ['context', 'kubeconfig', 'name'] as const
type Field = (typeof FIELDS)[number]

/** @throws InvalidFleetFile */
export function parseFleetFile(text: string): readonly FleetEntry[] {
  const documents = parseAllDocuments(text, { version: '1.2', schema: 'core', uniqueKeys: true })
  if (!Array.isArray(documents) || documents.length === 0) throw new InvalidFleetFile('it is empty')
  if (documents.length > 1) throw new InvalidFleetFile('it has more than one document')
  const [document] = documents
  const [error] = document!.errors
  if (error) {
    const why = error.code === 'DUPLICATE_KEY' ? 'a key is given twice' : 'it is not YAML'
    throw new InvalidFleetFile(`${why}${lineOf(error)}`)
  }
  const { contents } = document!
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    throw new InvalidFleetFile('it is empty')
  }
  if (!isSeq(contents)) throw new InvalidFleetFile('it must be a list of clusters')
  if (contents.items.length === 0) throw new InvalidFleetFile('it has no clusters')
  const entries = contents.items.map((item, i) => entryOf(item, i + 1))
  refuseSameName(entries)
  return entries
}

function lineOf({ linePos }: { readonly linePos?: ReadonlyArray<{ readonly line: number }> }) {
  return linePos?.[0] ? ` (line ${linePos[0].line})` : ''
}

function entryOf(item: unknown, number: number): FleetEntry {
  if (!isMap(item)) throw new InvalidFleetFile(`entry ${number} must have a context`)
  const { context, kubeconfig, name } = fieldsOf(item, number)
  if (context === undefined || context.trim() === '') {
    throw new InvalidFleetFile(`entry ${number} has no context`)
  }
  const shown = sanitiseName(name ?? context)
  if (shown === '') throw new InvalidFleetFile(`entry ${number} has a name that cannot be printed`)
  return { context, name: shown, ...(kubeconfig !== undefined && { kubeconfig }) }
}

function fieldsOf(item: YAMLMap, number: number): { readonly [K in Field]?: string } {
  const found: { [K in Field]?: string } = {}
  for (const { key, value } of item.items) {
    const field = FIELDS.find((one) => isScalar(key) && key.value === one)
    if (!field) {
      const known = FIELDS.join(', ')
      throw new InvalidFleetFile(`entry ${number} has a key that is none of ${known}`)
    }
    if (isAlias(value) || !isScalar(value) || typeof value.value !== 'string') {
      throw new InvalidFleetFile(`${field} of entry ${number} must be a string`)
    }
    found[field] = value.value
  }
  return found
}

function refuseSameName(entries: readonly FleetEntry[]): void {
  const numbers = new Map<string, number>()
  for (const [i, { name }] of entries.entries()) {
    const other = numbers.get(name)
    if (other !== undefined) {
      throw new InvalidFleetFile(
        `entries ${other} and ${i + 1} are both named ${JSON.stringify(name)}`,
      )
    }
    numbers.set(name, i + 1)
  }
}
