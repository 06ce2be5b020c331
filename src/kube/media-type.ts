/**
 * Content negotiation as kube-apiserver does it: Accept header → what to send.
 *
 * A clause may ask for a conversion (`as=Table;v=v1;g=meta.k8s.io`); one that asks for a
 * conversion we do not offer is passed over, and the next best clause is tried.
 *
 * @see apiserver/pkg/endpoints/handlers/negotiation/negotiate.go
 */
import { StatusError } from './status-error.ts'

/** One entry of an Accept header. */
export interface AcceptClause {
  /** `application/json`, `application/*`, or both parts `*`; lower case. */
  readonly mediaType: string
  readonly quality: number
  /** Everything but `q`; names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

/** What `as`, `g` and `v` of a clause ask for. */
export interface Conversion {
  readonly kind: string
  readonly group: string
  readonly version: string
}

export interface Negotiated {
  /** One of those offered. */
  readonly mediaType: string
  readonly convert?: Conversion
  readonly parameters: ReadonlyMap<string, string>
}

/** Whether a conversion is offered in a media type. */
export type ConversionFilter = (conversion: Conversion, mediaType: string) => boolean

const NO_CONVERSION: ConversionFilter = () => false

/**
 * The clauses of an Accept header, the most wanted first.
 *
 * Clauses of one quality stay in the order given, except that wildcards come last. What cannot be
 * read, and what has quality 0, is left out.
 */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(',').flatMap((text) => parseClause(text) ?? [])
  return clauses.toSorted(
    (a, b) => b.quality - a.quality || wildcards(a.mediaType) - wildcards(b.mediaType),
  )
}

function wildcards(mediaType: string): number {
  if (mediaType === '*/*') return 2
  return mediaType.endsWith('/*') ? 1 : 0
}

function parseClause(text: string): AcceptClause | undefined {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const mediaType = type === '*' ? '*/*' : type.toLowerCase()
  if (!/^[^/\s]+\/[^/\s]+$/.test(mediaType)) return undefined
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const equals = part.indexOf('=')
    if (equals < 0) continue
    const value = part.slice(equals + 1).trim()
    parameters.set(part.slice(0, equals).trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1'))
  }
  const quality = Number(parameters.get('q') ?? 1)
  parameters.delete('q')
  return quality > 0 ? { mediaType, quality, parameters } : undefined
}

/**
 * Chooses the representation to send.
 *
 * @param offered - media types, the preferred one first: a client that does not care gets that.
 * @throws 406 `NotAcceptable` naming what is offered.
 */
export function negotiate(
  accept: string | undefined,
  offered: readonly string[],
  converts: ConversionFilter = NO_CONVERSION,
): Negotiated {
  if (accept === undefined || accept.trim() === '') {
    return { mediaType: offered[0]!, parameters: new Map() }
  }
  const clauses = parseAccept(accept)
  for (const { mediaType: wanted, parameters } of clauses) {
    const convert = conversionOf(parameters)
    const mediaType = offered.find(
      (offer) => covers(wanted, offer) && (!convert || converts(convert, offer)),
    )
    if (mediaType) return { mediaType, parameters, ...(convert && { convert }) }
  }
  const known = clauses.some((clause) => offered.some((offer) => covers(clause.mediaType, offer)))
  throw known ? conversionNotAcceptable(offered) : mediaTypeNotAcceptable(offered)
}

function covers(wanted: string, offer: string): boolean {
  if (wanted === offer || wanted === '*/*') return true
  return wanted.endsWith('/*') && offer.startsWith(wanted.slice(0, -1))
}

function conversionOf(parameters: ReadonlyMap<string, string>): Conversion | undefined {
  const kind = parameters.get('as')
  const group = parameters.get('g')
  const version = parameters.get('v')
  if (kind === undefined && group === undefined && version === undefined) return undefined
  return { kind: kind ?? '', group: group ?? '', version: version ?? '' }
}

/** None of the client's media types is ours. */
function mediaTypeNotAcceptable(offered: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`
  return new StatusError('NotAcceptable', message, { details: {} })
}

/** The media type is ours, the conversion asked for is not. */
function conversionNotAcceptable(offered: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${offered.join(', ')}`
  return new StatusError('NotAcceptable', message)
}

/** What objects are offered in. Protobuf is not: its schema is the member's, and we keep JSON. */
export const OBJECT_MEDIA_TYPES = ['application/json', 'application/yaml'] as const

export interface Representation {
  readonly encoding: 'json' | 'yaml'
  readonly as: 'Object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  /** Of meta.k8s.io, for everything but `Object`. */
  readonly metaVersion: 'v1' | 'v1beta1'
}

const CONVERSIONS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const

/**
 * How a client wants objects: of a get, a list, or anything else that answers with objects.
 *
 * @throws 406 `NotAcceptable`, also when a list is asked for as one object or the reverse.
 */
export function negotiateObjects(
  accept: string | undefined,
  answer: 'object' | 'list',
): Representation {
  const { mediaType, convert } = negotiate(accept, OBJECT_MEDIA_TYPES, isObjectConversion)
  const as = CONVERSIONS.find((kind) => kind === convert?.kind) ?? 'Object'
  if (as === 'PartialObjectMetadata' && answer === 'list') {
    throw new StatusError(
      'NotAcceptable',
      'you requested PartialObjectMetadata, but the requested object is a list',
    )
  }
  if (as === 'PartialObjectMetadataList' && answer === 'object') {
    throw new StatusError(
      'NotAcceptable',
      'you requested PartialObjectMetadataList, but the requested object is not a list',
    )
  }
  return {
    encoding: mediaType === 'application/yaml' ? 'yaml' : 'json',
    as,
    metaVersion: convert?.version === 'v1beta1' ? 'v1beta1' : 'v1',
  }
}

function isObjectConversion({ kind, group, version }: Conversion): boolean {
  return (
    group === 'meta.k8s.io' &&
    (version === 'v1' || version === 'v1beta1') &&
    CONVERSIONS.some((known) => known === kind)
  )
}
