/** JSON or YAML text → a value, with the fields that were given twice. */
import { isMap, type Tags, visit } from 'yaml'
import type { Json } from '../kube/kube-object.ts'
import { yamlDocument } from '../kube/yaml-text.ts'
import { type ParsedJson, parseJson } from './json-text.ts'

/** Many times what a manifest needs; keeps "billion laughs" from growing. */
const YAML_ALIASES_MOST = 1_000

/** What a client sent. */
export interface Body {
  readonly text: string
  readonly format: 'json' | 'yaml'
}

/** @throws an error whose message is fit for the client. */
export function parseBody({ text, format }: Body): ParsedJson {
  if (format === 'json') return parseJson(text)
  // JSON is YAML, and clients send JSON as YAML: reading it as JSON keeps the digits of numbers.
  return (text.trimStart().startsWith('{') && parsedJson(text)) || parseYaml(text)
}

function parsedJson(text: string): ParsedJson | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined // YAML in flow style.
  }
}

/** YAML 1.1 without times and binaries, which Kubernetes reads as text. */
const WITHOUT_TAGS = new Set(['tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:binary'])

function parseYaml(text: string): ParsedJson {
  const document = yamlDocument(text, {
    version: '1.1',
    intAsBigInt: true,
    uniqueKeys: false,
    merge: true,
    customTags: (tags: Tags) =>
      tags.filter((tag) => typeof tag === 'string' || !WITHOUT_TAGS.has(tag.tag)),
  })
  const duplicates: string[] = []
  visit(document, {
    Map: (_key, node, path) => {
      const seen = new Set<string>()
      for (const { key } of node.items) {
        const name = String(key)
        if (seen.has(name)) duplicates.push([...pathOf(path), name].join('.'))
        seen.add(name)
      }
    },
  })
  return { value: asJson(document.toJS({ maxAliasCount: YAML_ALIASES_MOST })), duplicates }
}

function pathOf(path: readonly unknown[]): readonly string[] {
  return path.flatMap((node, index) => {
    if (typeof node !== 'object' || node === null || !('key' in node)) return []
    return isMap(path[index - 1]) ? [String(node.key)] : []
  })
}

/** Integers that a number holds exactly become numbers again. */
function asJson(value: unknown): Json {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (value === undefined) return null
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new SyntaxError(`yaml: ${value} is no value that JSON can hold`)
  }
  if (typeof value !== 'object' || value === null) return value as Json
  if (Array.isArray(value)) return value.map(asJson)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, asJson(child)]))
}
