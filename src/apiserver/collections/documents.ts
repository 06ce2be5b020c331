/** The documents of collection resources themselves: what there are, and of which types. */
import {
  COLLECTION_API_VERSION,
  COLLECTIONS,
  type Collection,
  type TypePattern,
} from '../../kube/collection-resource.ts'
import type { ColumnDefinition } from '../../kube/table.ts'
import type { IncludeObject } from '../routes/table-options.ts'

/** As Clusterpedia writes a type: `version`, `kind` and `resource` are left out when unknown. */
export interface DescribedType {
  readonly group: string
  readonly version?: string
  readonly kind?: string
  readonly resource: string
}

export function collectionList() {
  return {
    kind: 'CollectionResourceList',
    apiVersion: COLLECTION_API_VERSION,
    metadata: {},
    items: COLLECTIONS.map(describe),
  }
}

export function collectionListTable(metaVersion: string, include: IncludeObject) {
  const objects = {
    None: () => null,
    Metadata: (collection: Collection) => ({
      kind: 'PartialObjectMetadata',
      apiVersion: `meta.k8s.io/${metaVersion}`,
      metadata: metadataOf(collection.name),
    }),
    Object: describe,
  }
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: {},
    columnDefinitions: [
      textColumn('Name', 'name', 'Name of the collection resource.'),
      textColumn('Resources', '', 'The types that it is made of.'),
    ],
    rows: COLLECTIONS.map((collection) => ({
      cells: [collection.name, typesText(collection)],
      object: objects[include](collection),
    })),
  }
}

/** What stands for one in `metadata`: it was never created. */
export function metadataOf(name: string) {
  return { name, creationTimestamp: null }
}

export function textColumn(name: string, format: string, description: string): ColumnDefinition {
  return { name, type: 'string', format, description, priority: 0 }
}

function describe({ name, types }: Collection) {
  return {
    kind: 'CollectionResource',
    apiVersion: COLLECTION_API_VERSION,
    metadata: metadataOf(name),
    resourceTypes: types === 'as-asked' ? [] : types.map((type) => ({ resource: '', ...type })),
  }
}

/** As in Clusterpedia's documentation: `deployments.apps`, `*.apps`, `.*` for the core group. */
function typesText({ types }: Collection): string {
  return types === 'as-asked' ? '*' : types.map(typeText).join(',')
}

function typeText({ group = '*', resource }: TypePattern): string {
  if (resource !== undefined) return group === '' ? resource : `${resource}.${group}`
  return group === '' ? '.*' : `*.${group}`
}
