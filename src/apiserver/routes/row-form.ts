/**
 * How rows are sent, by what the client accepts: which columns of the store are needed for it, and
 * the frame and JSON of each row.
 */
import type { Representation } from '../../kube/media-type.ts'
import type { Search } from '../../kube/search.ts'
import type { ListRequest } from '../../store/list-request.ts'
import type { Catalog } from '../catalog.ts'
import { type ColumnUnion, uniteColumns } from '../encode/column-union.ts'
import type { ListFrame } from '../encode/list-encoder.ts'
import { objectWithoutBody, partialObject, type RowJson, wholeObject } from '../encode/row-json.ts'
import { tableRows } from '../encode/table-row.ts'
import type { Asked } from './asked.ts'
import { includeObjectOf } from './table-options.ts'

export interface RowForm {
  readonly want: ListRequest['want']
  readonly frame: ListFrame
  readonly row: RowJson
  /** Whether whole objects go out, whose own apiVersion then counts. */
  readonly wholeObjects: boolean
}

export interface FormParts {
  readonly asked: Asked
  readonly search: Pick<Search, 'onlyMetadata'>
  readonly query: URLSearchParams
  readonly catalog: () => Catalog
  readonly nowMilliseconds: number
}

export function rowForm(representation: Representation, parts: FormParts): RowForm {
  switch (representation.as) {
    case 'Object':
      return objectForm(parts)
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return metadataForm(representation.metaVersion)
    case 'Table':
      return tableForm(representation.metaVersion, parts)
  }
}

function objectForm(parts: FormParts): RowForm {
  const { type, apiVersion } = parts.asked
  const wholeObjects = !parts.search.onlyMetadata
  return {
    want: { cells: false, metadata: true, body: wholeObjects },
    frame: { kind: type.listKind, apiVersion, entries: 'items' },
    row: objectJson(parts),
    wholeObjects,
  }
}

function objectJson({ asked, search }: FormParts): RowJson {
  if (!search.onlyMetadata) return wholeObject
  const kinds = new Map(asked.served.map(({ cluster, resource }) => [cluster.id, resource.kind]))
  return objectWithoutBody(({ clusterId }) => kinds.get(clusterId) ?? asked.type.kind)
}

function metadataForm(metaVersion: 'v1' | 'v1beta1'): RowForm {
  const apiVersion = `meta.k8s.io/${metaVersion}`
  return {
    want: { cells: false, metadata: true, body: false },
    frame: { kind: 'PartialObjectMetadataList', apiVersion, entries: 'items' },
    row: partialObject(metaVersion),
    wholeObjects: false,
  }
}

function tableForm(metaVersion: 'v1' | 'v1beta1', parts: FormParts): RowForm {
  const include = includeObjectOf(parts.query)
  const wholeObjects = include === 'Object' && !parts.search.onlyMetadata
  const names = new Map(parts.asked.served.map(({ cluster }) => [cluster.id, cluster.name]))
  const objects = {
    None: null,
    Metadata: partialObject(metaVersion),
    Object: objectJson(parts),
  }
  const { columnDefinitions, row } = tableRows({
    union: columnUnion(parts),
    // The newest catalog: a row may have been made with columns that came after the request did.
    columnSet: (id) => parts.catalog().columnSets.get(id),
    clusterName: (id) => names.get(id) ?? '',
    object: objects[include],
    nowMilliseconds: parts.nowMilliseconds,
  })
  const apiVersion = `meta.k8s.io/${metaVersion}`
  return {
    want: { cells: true, metadata: include !== 'None', body: wholeObjects },
    frame: { kind: 'Table', apiVersion, columnDefinitions, entries: 'rows' },
    row,
    wholeObjects,
  }
}

function columnUnion({ asked, catalog }: FormParts): ColumnUnion {
  const { columnSets } = catalog()
  return uniteColumns(
    asked.served.flatMap(({ resource: { columnsId } }) => {
      const columns = columnsId === undefined ? undefined : columnSets.get(columnsId)
      return columns ? [columns] : []
    }),
  )
}
