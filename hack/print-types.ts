/**
 * Writes src/kube/crd-types.ts: the types of our own kinds, from the schemas in crds/. Run by hand
 * after a change there; a test compares.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kindOfResource } from '../src/registration/kinds.ts'
import type { Schema } from '../src/registration/schema.ts'

const FILE = join(import.meta.dirname, '../src/kube/crd-types.ts')
const LINE = 100

/** Which parts of which kind get a name of their own; `[]` is an element of a list. */
const NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pediaclusters.cluster.clusterpedia.io': {
    spec: 'PediaClusterSpec',
    'spec.authenticationFrom': 'AuthenticationFrom',
    'spec.authenticationFrom.*': 'SecretKey',
    'spec.syncResources[]': 'SyncGroupResources',
    'spec.excludeResources[]': 'SyncGroupResources',
    status: 'PediaClusterStatus',
    'status.conditions[]': 'Condition',
    'status.syncResources[]': 'GroupStatus',
    'status.syncResources[].resources[]': 'ResourceStatus',
    'status.syncResources[].resources[].syncConditions[]': 'SyncCondition',
  },
  'clustersyncresources.cluster.clusterpedia.io': {
    spec: 'ClusterSyncResourcesSpec',
    'spec.syncResources[]': 'SyncGroupResources',
  },
  'fleetaccesses.fleetglass.io': {
    spec: 'FleetAccessSpec',
    'spec.subjects[]': 'AccessSubject',
    'spec.rules[]': 'AccessRule',
    'spec.rules[].clusterSelector': 'ClusterSelector',
    'spec.rules[].clusterSelector.matchExpressions[]': 'ClusterSelectorTerm',
  },
}

const HEAD = `/** The types of our own kinds. Made from crds/ by hack/print-types.ts: change those, not this. */
`

/** The whole file. @throws when two schemas of one name differ. */
export function crdTypes(): string {
  const declared = new Map<string, string>()
  for (const [qualified, names] of Object.entries(NAMES)) {
    const [resource, ...group] = qualified.split('.')
    const { schema } = kindOfResource(group.join('.'), resource!)
    for (const part of ['spec', 'status']) {
      const child = schema.properties?.[part]
      if (child) typeOf(child, { path: part, names, declared })
    }
  }
  return [HEAD, ...declared.values()].join('\n')
}

interface Place {
  readonly path: string
  readonly names: Readonly<Record<string, string>>
  readonly declared: Map<string, string>
}

function typeOf(schema: Schema, place: Place): string {
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ')
  switch (schema.type) {
    case 'object':
      return objectType(schema, place)
    case 'array':
      return listOf(typeOf(schema.items!, { ...place, path: `${place.path}[]` }))
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    default:
      return 'string'
  }
}

function listOf(element: string): string {
  return element.includes(' | ') ? `ReadonlyArray<${element}>` : `readonly ${element}[]`
}

function objectType(schema: Schema, place: Place): string {
  const { additionalProperties, properties } = schema
  if (typeof additionalProperties === 'object') {
    return `Readonly<Record<string, ${typeOf(additionalProperties, place)}>>`
  }
  const name = nameAt(place)
  if (!name) throw new Error(`hack/print-types.ts has no name for ${place.path}`)
  const fields = Object.entries(properties ?? {}).flatMap(([field, child]) => {
    const type = typeOf(child, { ...place, path: `${place.path}.${field}` })
    const optional = schema.required?.includes(field) ? '' : '?'
    return [...comment(child.description ?? '', '  '), `  readonly ${field}${optional}: ${type}`]
  })
  const head = [...comment(schema.description ?? '', ''), `export interface ${name} {`]
  declare(place.declared, name, [...head, ...fields, '}', ''].join('\n'))
  return name
}

function nameAt({ path, names }: Place): string | undefined {
  return names[path] ?? names[path.replace(/\.[^.]+$/, '.*')]
}

function declare(declared: Map<string, string>, name: string, text: string): void {
  const known = declared.get(name)
  if (known !== undefined && known !== text) throw new Error(`crds/ has two different ${name}`)
  declared.set(name, text)
}

function comment(text: string, indent: string): readonly string[] {
  if (text === '') return []
  const single = `${indent}/** ${text} */`
  if (single.length <= LINE) return [single]
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    const room = LINE - indent.length - 3
    if (last.length + 1 + word.length > room && last !== '') lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`]
}

if (import.meta.main) writeFileSync(FILE, crdTypes())
