/**
 * Reads a kubeconfig: which server, which credentials, for one context.
 *
 * Owns     the file's own rules (current-context, names, base64) and the sentences when it breaks them.
 * Not here whether paths and plugins are allowed, and what they yield (credentials.ts).
 *
 * @see client-go/tools/clientcmd/api/v1/types.go
 */
import { yamlValue } from '../kube/yaml-text.ts'
import { InvalidConfig } from './member-access.ts'

type Fields = Readonly<Record<string, unknown>>

/** The two entries that a context names, each with where it stands in the file. */
export interface KubeconfigContext {
  readonly cluster: Fields
  readonly clusterField: string
  readonly user: Fields
  readonly userField: string
  /** Of the context. */
  readonly namespace?: string
}

/** @throws InvalidConfig naming the field, below `field` (`spec.kubeconfig`). */
export function readKubeconfig(
  text: string,
  { field, context }: { field: string; context?: string | undefined },
): KubeconfigContext {
  const root = parseYaml(text, field)
  const name = context ?? root['current-context']
  if (typeof name !== 'string' || name === '') {
    throw new InvalidConfig(`${field}: current-context is not set`)
  }
  const chosen = entryOf({ root, list: 'contexts', part: 'context', name, field })
  const clusterName = textField(chosen.fields, 'cluster', chosen.field)
  if (clusterName === undefined) throw new InvalidConfig(`${chosen.field}.cluster is not set`)
  const cluster = entryOf({ root, list: 'clusters', part: 'cluster', name: clusterName, field })
  const userName = textField(chosen.fields, 'user', chosen.field)
  const user =
    userName === undefined || userName === ''
      ? { fields: {}, field: `${field}: users` }
      : entryOf({ root, list: 'users', part: 'user', name: userName, field })
  const namespace = textField(chosen.fields, 'namespace', chosen.field)
  return {
    ...(namespace && { namespace }),
    cluster: cluster.fields,
    clusterField: cluster.field,
    user: user.fields,
    userField: user.field,
  }
}

function parseYaml(text: string, field: string): Fields {
  let root: unknown
  try {
    root = yamlValue(text)
  } catch {
    // The parser's own message quotes the text, and the text holds credentials.
    throw new InvalidConfig(`${field} is not YAML`)
  }
  if (!isFields(root)) throw new InvalidConfig(`${field} is not a kubeconfig`)
  return root
}

interface EntryWish {
  readonly root: Fields
  readonly list: 'contexts' | 'clusters' | 'users'
  readonly part: 'context' | 'cluster' | 'user'
  readonly name: string
  readonly field: string
}

function entryOf({ root, list, part, name, field }: EntryWish): { fields: Fields; field: string } {
  const entries = root[list]
  if (!Array.isArray(entries)) throw new InvalidConfig(`${field}: ${list} is not set`)
  const entry = entries.find((one) => isFields(one) && one.name === name)
  const shown = `${field}: ${list}[${name}]`
  if (!entry) throw new InvalidConfig(`${shown} does not exist`)
  const fields = entry[part]
  if (fields === undefined || fields === null) return { fields: {}, field: `${shown}.${part}` }
  if (!isFields(fields)) throw new InvalidConfig(`${shown}.${part} must be an object`)
  return { fields, field: `${shown}.${part}` }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @returns undefined when the field is missing or null. @throws InvalidConfig when it is no text. */
export function textField(fields: Fields, name: string, of: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new InvalidConfig(`${of}.${name} must be a string`)
  return value
}

/** `[]` when missing. */
export function textsField(fields: Fields, name: string, of: string): string[] {
  const value = fields[name]
  if (value === undefined || value === null) return []
  const texts = Array.isArray(value) && value.every((one) => typeof one === 'string')
  if (!texts) throw new InvalidConfig(`${of}.${name} must be a list of strings`)
  return value as string[]
}

/** Kubernetes' bytes in JSON and YAML. @throws InvalidConfig when it is not base64. */
export function base64Field(fields: Fields, name: string, of: string): Buffer | undefined {
  const text = textField(fields, name, of)?.replaceAll(/\s+/g, '')
  if (text === undefined || text === '') return undefined
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) {
    throw new InvalidConfig(`${of}.${name} is not base64`)
  }
  return Buffer.from(text, 'base64')
}
