/**
 * An object, a list or a watch event in the form that was asked for: itself, a Table, or metadata.
 *
 * What is served is JSON text already; it is not parsed and printed again.
 */
import type { JsonObject } from '../../kube/kube-object.ts'
import type { Representation } from '../../kube/media-type.ts'
import { unreachable } from '../../kube/unreachable.ts'
import { encodeRow, renderCells } from '../../printers/cell.ts'
import { customResourcePrinter } from '../../printers/custom-resource.ts'
import type { Printer } from '../../printers/printer.ts'
import { formatJson } from '../../registration/json-text.ts'
import type { RegistrationKind } from '../../registration/kinds.ts'
import { metadataOf } from '../../registration/lifecycle.ts'
import type { Served } from '../../registration/list.ts'
import type { IncludeObject } from '../routes/table-options.ts'

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** Makes answers of one kind, in one form. */
export interface Representer {
  readonly object: (object: Served) => string
  readonly list: (items: readonly Served[], metadata: ListMeta) => string
  /** What stands in a watch event. `isFirst`: a Table names its columns only once. */
  readonly watched: (object: Served, isFirst: boolean) => string
}

export interface RepresenterParts {
  readonly kind: RegistrationKind
  readonly representation: Pick<Representation, 'as' | 'metaVersion'>
  readonly includeObject: IncludeObject
  readonly nowMilliseconds: () => number
}

export function representer(parts: RepresenterParts): Representer {
  switch (parts.representation.as) {
    case 'Object':
      return asObjects(parts)
    case 'Table':
      return asTables(parts)
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return asMetadata(parts)
    default:
      return unreachable(parts.representation.as)
  }
}

function asObjects({ kind }: RepresenterParts): Representer {
  const itself = ({ text }: Served) => text
  return {
    object: itself,
    watched: itself,
    list: (items, metadata) => {
      const { group, version, listKind } = kind
      const texts = items.map(itself).join(',')
      return `{"apiVersion":"${group}/${version}","items":[${texts}],"kind":"${listKind}","metadata":${JSON.stringify(metadata)}}`
    },
  }
}

function partial({ object }: Served, metaVersion: string): string {
  const start = `"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${metaVersion}"`
  return `{${start},"metadata":${formatJson(metadataOf(object))}}`
}

function asMetadata({ representation: { metaVersion } }: RepresenterParts): Representer {
  const one = (object: Served) => partial(object, metaVersion)
  return {
    object: one,
    watched: one,
    list: (items, metadata) => {
      const start = `"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${metaVersion}"`
      return `{${start},"metadata":${JSON.stringify(metadata)},"items":[${items.map(one).join(',')}]}`
    },
  }
}

function asTables(parts: RepresenterParts): Representer {
  const printer = customResourcePrinter(parts.kind.columns)
  const { metaVersion } = parts.representation
  const table = (items: readonly Served[], metadata: ListMeta, withColumns = true) => {
    const start = `"kind":"Table","apiVersion":"meta.k8s.io/${metaVersion}"`
    const columns = withColumns ? JSON.stringify(printer.columns) : 'null'
    const rows = items.map((item) => row(item, printer, parts)).join(',')
    return `{${start},"metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[${rows}]}`
  }
  const versionOf = ({ object }: Served): ListMeta => ({
    resourceVersion: String(metadataOf(object).resourceVersion ?? ''),
  })
  return {
    object: (item) => table([item], versionOf(item)),
    list: (items, metadata) => table(items, metadata),
    watched: (item, isFirst) => table([item], versionOf(item), isFirst),
  }
}

function row(item: Served, printer: Printer, parts: RepresenterParts): string {
  const { representation, includeObject, nowMilliseconds } = parts
  const stored = encodeRow(printer, item.object as Parameters<Printer['cells']>[0])
  const cells = renderCells(stored, nowMilliseconds()).toString()
  return `{"cells":[${cells}],"object":${rowObject(item, includeObject, representation.metaVersion)}}`
}

function rowObject(item: Served, include: IncludeObject, metaVersion: string): string {
  if (include === 'None') return 'null'
  return include === 'Object' ? item.text : partial(item, metaVersion)
}

/** A bookmark is an object of the kind that has nothing but a resourceVersion. */
export function bookmark(
  { group, version, kind }: RegistrationKind,
  {
    resourceVersion,
    initialEventsEnd,
  }: { readonly resourceVersion: string; readonly initialEventsEnd: boolean },
): Served {
  const object: JsonObject = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: {
      ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
      resourceVersion,
    },
  }
  return { object, text: formatJson(object) }
}
