/**
 * The kinds of our own API groups, read from crds/: the only place that says what they look like.
 *
 * Their schema, their columns, what discovery says of them and their OpenAPI all come from there.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { GroupResource, ResourceInfo } from '../kube/group-resource.ts'
import type { AdditionalPrinterColumn } from '../printers/custom-resource.ts'
import type { RegistrationKey } from '../store/registrations.ts'
import { METADATA, type Schema } from './schema.ts'

export interface RegistrationKind extends ResourceInfo {
  readonly listKind: string
  /** Of the whole object; that of `metadata` is filled in. */
  readonly schema: Schema
  /** Whether `status` is written through a subresource of its own. */
  readonly hasStatus: boolean
  /** Empty: the age alone. */
  readonly columns: readonly AdditionalPrinterColumn[]
}

/** All that a real API server does with a custom resource. */
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

interface DeclaredVersion {
  readonly name: string
  readonly schema: { readonly openAPIV3Schema: Schema }
  readonly subresources?: { readonly status?: object }
  readonly additionalPrinterColumns?: readonly AdditionalPrinterColumn[]
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string
    readonly names: {
      readonly kind: string
      readonly listKind: string
      readonly plural: string
      readonly singular: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly versions: readonly DeclaredVersion[]
  }
}

/** `crds/` stands beside package.json, whether this runs from src/ or compiled. */
function findCrds(from: string): string {
  const directory = join(from, 'crds')
  if (existsSync(join(from, 'package.json')) && existsSync(directory)) return directory
  if (dirname(from) === from) throw new Error('crds/ is missing from this installation')
  return findCrds(dirname(from))
}

function kindsOf({ spec }: CustomResourceDefinition): readonly RegistrationKind[] {
  const { kind, listKind, plural, singular, shortNames = [], categories = [] } = spec.names
  return spec.versions.map((version) => ({
    group: spec.group,
    version: version.name,
    resource: plural,
    kind,
    listKind,
    singularName: singular,
    shortNames,
    categories,
    namespaced: false,
    verbs: VERBS,
    schema: withMetadata(version.schema.openAPIV3Schema),
    hasStatus: version.subresources?.status !== undefined,
    columns: version.additionalPrinterColumns ?? [],
  }))
}

function withMetadata(schema: Schema): Schema {
  return { ...schema, properties: { ...schema.properties, metadata: METADATA } }
}

/** In the order of groups and resources; discovery lists them as they are. */
export const REGISTRATION_KINDS: readonly RegistrationKind[] = loadKinds()

function loadKinds(): readonly RegistrationKind[] {
  const directory = findCrds(import.meta.dirname)
  return readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .flatMap((file) => kindsOf(parse(readFileSync(join(directory, file), 'utf8'))))
}

/** What an object of a kind is stored under. */
export function keyOf({ group, resource }: GroupResource, name: string): RegistrationKey {
  return { group, resource, name }
}

export function kindOfResource(group: string, resource: string): RegistrationKind {
  const found = REGISTRATION_KINDS.find(
    (kind) => kind.group === group && kind.resource === resource,
  )
  if (!found) throw new Error(`crds/ declares no ${resource}.${group}`)
  return found
}
