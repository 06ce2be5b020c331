/** How the objects of a collection are sent: as a `CollectionResource` of mixed kinds, or as a Table. */
import { COLLECTION_API_VERSION } from '../../kube/collection-resource.ts'
import { parseApiVersion } from '../../kube/group-resource.ts'
import type { Representation } from '../../kube/media-type.ts'
import { formatAge } from '../../printers/age.ts'
import { UNKNOWN_TIME } from '../../printers/cell.ts'
import { fields, timeOf } from '../../printers/read-field.ts'
import type { ListRequest, RawRow } from '../../store/list-request.ts'
import type { ServedResource } from '../catalog.ts'
import { CLUSTER_COLUMN } from '../encode/column-union.ts'
import {
  jsonListEncoder,
  type ListEncoder,
  type ListMetadata,
  yamlListEncoder,
} from '../encode/list-encoder.ts'
import { objectWithoutBody, partialObject, type RowJson, wholeObject } from '../encode/row-json.ts'
import { jsonToYaml } from '../encode/yaml.ts'
import type { IncludeObject } from '../routes/table-options.ts'
import { type DescribedType, metadataOf, textColumn } from './documents.ts'

export interface CollectionForm {
  readonly want: ListRequest['want']
  readonly encoder: ListEncoder
  readonly row: RowJson
}

export interface CollectionFormParts {
  readonly name: string
  readonly types: readonly DescribedType[]
  readonly served: readonly ServedResource[]
  readonly onlyMetadata: boolean
  readonly include: IncludeObject
  readonly nowMilliseconds: number
}

export function collectionForm(
  { as, encoding, metaVersion }: Representation,
  parts: CollectionFormParts,
): CollectionForm {
  const object = parts.onlyMetadata ? objectWithoutBody(kindsOf(parts.served)) : wholeObject
  if (as !== 'Table') {
    return {
      want: { cells: false, metadata: true, body: !parts.onlyMetadata },
      encoder: collectionEncoder(encoding, parts),
      row: object,
    }
  }
  const objects = { None: null, Metadata: partialObject(metaVersion), Object: object }
  const frame = {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${metaVersion}`,
    columnDefinitions: JSON.stringify(COLUMNS),
    entries: 'rows' as const,
  }
  return {
    want: {
      cells: false,
      metadata: true,
      body: parts.include === 'Object' && !parts.onlyMetadata,
    },
    encoder: (encoding === 'yaml' ? yamlListEncoder : jsonListEncoder)(frame),
    row: tableRow(parts, objects[parts.include]),
  }
}

/** The number of a row's type is the last value of its position: store/list-collection.ts. */
function kindsOf(served: readonly ServedResource[]): (row: RawRow) => string {
  const kinds = new Map(
    served.map(({ cluster, resource }) => [`${cluster.id} ${resource.typeId}`, resource.kind]),
  )
  return (row) => kinds.get(`${row.clusterId} ${row.position().values.at(-1)}`) ?? ''
}

const COLUMNS = [
  CLUSTER_COLUMN,
  textColumn('Group', '', 'API group of the object.'),
  textColumn('Version', '', 'Version of the API group.'),
  textColumn('Kind', '', 'Kind of the object.'),
  textColumn('Namespace', '', 'Namespace of the object.'),
  textColumn('Name', 'name', 'Name of the object.'),
  textColumn('Age', '', 'Time since the object was created.'),
]

const BEFORE_OBJECT = Buffer.from(',"object":')
const NO_OBJECT = Buffer.from('null')
const END = Buffer.from('}')

function tableRow(
  { served, nowMilliseconds }: CollectionFormParts,
  object: RowJson | null,
): RowJson {
  const kindOf = kindsOf(served)
  return (row) => {
    const { group, version } = parseApiVersion(row.apiVersion)
    const { cluster, namespace, name } = row.position()
    const age = ageOf(row.metadata!, nowMilliseconds)
    const cells = [cluster, group, version, kindOf(row), namespace, name, age]
    const start = Buffer.from(`{"cells":${JSON.stringify(cells)}`)
    return [start, BEFORE_OBJECT, ...(object ? object(row) : [NO_OBJECT]), END]
  }
}

/** Columns of several kinds are not stored: these few are made from the metadata. */
function ageOf(metadata: Buffer, nowMilliseconds: number): string {
  const { creationTimestamp } = fields(JSON.parse(metadata.toString('utf8')))
  const created = timeOf(creationTimestamp)
  return created === undefined ? UNKNOWN_TIME : formatAge((nowMilliseconds - created) / 1000)
}

/** Where a list has `metadata.continue`, a CollectionResource has `continue`: it is no list. */
function collectionEncoder(
  encoding: Representation['encoding'],
  { name, types }: CollectionFormParts,
): ListEncoder {
  const kind = { kind: 'CollectionResource', apiVersion: COLLECTION_API_VERSION }
  const frame = { ...kind, entries: 'items' } as const
  const start = JSON.stringify({ ...kind, resourceTypes: types })
  const endOf = ({ resourceVersion, ...paging }: ListMetadata) =>
    JSON.stringify({ metadata: { ...metadataOf(name), resourceVersion }, ...paging })
  if (encoding === 'yaml') {
    return {
      ...yamlListEncoder(frame),
      open: () => Buffer.from(`${jsonToYaml(start)}items:`),
      close: (metadata) => Buffer.from(jsonToYaml(endOf(metadata))),
      closeEmpty: (metadata) => Buffer.from(` []\n${jsonToYaml(endOf(metadata))}`),
    }
  }
  const close = (metadata: ListMetadata) => Buffer.from(`],${endOf(metadata).slice(1)}\n`)
  return {
    ...jsonListEncoder(frame),
    open: () => Buffer.from(`${start.slice(0, -1)},"items":[`),
    ...{ close, closeEmpty: close },
  }
}
