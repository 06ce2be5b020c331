/**
 * Cuts parts out of an object before it is mirrored, where the operator wants them kept nowhere.
 *
 * A path is one of field selectors: `metadata.annotations['x']`, `spec.containers[].env`.
 */
import {
  type FieldPath,
  formatFieldPath,
  type PathStep,
  parseFieldPath,
} from '../kube/field-selector.ts'
import { applyEdits, type ByteEdit, cutMembers } from './byte-edits.ts'
import {
  CLOSE_BRACKET,
  COMMA,
  JsonError,
  members,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipSpace,
  valueEnd,
} from './json-bytes.ts'

/** Without these there is no object, or none that can be ordered and followed. */
const NEEDED = [
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.resourceVersion',
  'metadata.creationTimestamp',
]

/** A comma that is in no quotes: the rest of the text has whole ones only. */
const BETWEEN_PATHS = /,(?=(?:[^'"]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")*$)/

/** Paths separated by commas; a quoted key may hold some. @throws Error as {@link parsePrunePath}. */
export function parsePrunePaths(text: string): readonly FieldPath[] {
  return text.split(BETWEEN_PATHS).map((path) => parsePrunePath(path.trim()))
}

/** @throws Error saying what is wrong with the path. */
function parsePrunePath(text: string): FieldPath {
  const path = parseFieldPath(text)
  const needed = NEEDED.includes(formatFieldPath(path))
  if (needed) throw new Error(`${text} is needed and cannot be pruned`)
  if (path.some((step) => 'index' in step)) throw new Error('an index cannot be pruned: use []')
  if (!('key' in path.at(-1)!)) throw new Error('the last step of a pruned path is a field')
  return path
}

interface Tree {
  /** The value goes, with its key. */
  cut: boolean
  readonly fields: Map<string, Tree>
  /** For each element of a list. */
  every: Tree | undefined
}

/** @returns a function that leaves what is no JSON as it is: the encoder refuses it. */
export function createPruner(paths: readonly FieldPath[]): (object: Buffer) => Buffer {
  if (paths.length === 0) return (object) => object
  const root = treeOf(paths)
  return (object) => {
    const edits: ByteEdit[] = []
    try {
      collect({ object, edits }, skipSpace(object, 0), root)
    } catch (error) {
      if (error instanceof JsonError) return object
      throw error
    }
    if (edits.length === 0) return object
    edits.sort((a, b) => a.start - b.start)
    return applyEdits(object, edits)
  }
}

function treeOf(paths: readonly FieldPath[]): Tree {
  const root = emptyTree()
  for (const path of paths) path.reduce(below, root).cut = true
  return root
}

function below(tree: Tree, step: PathStep): Tree {
  if ('key' in step) {
    const known = tree.fields.get(step.key) ?? emptyTree()
    tree.fields.set(step.key, known)
    return known
  }
  tree.every ??= emptyTree()
  return tree.every
}

function emptyTree(): Tree {
  return { cut: false, fields: new Map(), every: undefined }
}

interface Work {
  readonly object: Buffer
  readonly edits: ByteEdit[]
}

/** No deeper than the paths are long. */
function collect(work: Work, at: number, tree: Tree): void {
  const { object } = work
  if (object[at] === OPEN_BRACKET && tree.every) collectList(work, at, tree.every)
  if (object[at] === OPEN_BRACE && tree.fields.size > 0) collectObject(work, at, tree)
}

function collectObject(work: Work, at: number, tree: Tree): void {
  const { object } = work
  const ranges = []
  let end = at + 1
  for (const member of members(object, at)) {
    const inner = tree.fields.get(member.key)
    const cut = inner?.cut === true
    ranges.push({ start: member.keyStart, end: member.end, cut })
    if (inner && !cut) collect(work, member.start, inner)
    end = member.end
  }
  work.edits.push(...cutMembers({ start: at, end }, ranges))
}

function collectList(work: Work, at: number, tree: Tree): void {
  const { object } = work
  let i = skipSpace(object, at + 1)
  while (object[i] !== CLOSE_BRACKET) {
    collect(work, i, tree)
    i = skipSpace(object, valueEnd(object, i))
    if (object[i] === COMMA) i = skipSpace(object, i + 1)
  }
}
