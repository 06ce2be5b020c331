/** The query of a list or watch, checked as kube-apiserver checks it. */
import { MemberError } from './reply.ts'
import { isTrue, type MemberRequest } from './request.ts'

export interface ListOptions {
  /** 0 is no limit. */
  readonly limit: number
  readonly continueToken: string
  /** undefined when not given or empty: the newest. */
  readonly revision: bigint | undefined
  readonly match: '' | 'Exact' | 'NotOlderThan'
  readonly timeoutSeconds: number | undefined
  readonly bookmarks: boolean
  readonly sendInitialEvents: boolean
}

export function readListOptions(request: MemberRequest): ListOptions {
  const { query } = request
  const watch = request.kind === 'watch'
  const options = {
    limit: Math.max(0, integer(query.get('limit')) ?? 0),
    continueToken: query.get('continue') ?? '',
    match: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: integer(query.get('timeoutSeconds')),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
  }
  const given = query.get('resourceVersion') ?? ''
  if (watch) checkWatch(options)
  else checkList({ ...options, given })
  return {
    ...options,
    match: options.match as ListOptions['match'],
    revision: given === '' ? undefined : revision(given, watch),
  }
}

function checkWatch(options: { match: string; sendInitialEvents: boolean }): void {
  if (options.sendInitialEvents && options.match !== 'NotOlderThan') {
    throw forbiddenOption('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  }
  if (!options.sendInitialEvents && options.match !== '') {
    throw forbiddenOption(
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    )
  }
}

function checkList(options: { match: string; given: string; continueToken: string }): void {
  const { match, given, continueToken } = options
  if (match === '') return
  if (given === '') {
    throw forbiddenOption('resourceVersionMatch is forbidden unless resourceVersion is provided')
  }
  if (continueToken !== '') {
    throw forbiddenOption('resourceVersionMatch is forbidden when continue is provided')
  }
  if (match === 'Exact' && given === '0') {
    throw forbiddenOption('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalidOption({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
    })
  }
}

function forbiddenOption(sentence: string): MemberError {
  return invalidOption({ reason: 'FieldValueForbidden', message: `Forbidden: ${sentence}` })
}

function invalidOption(cause: { reason: string; message: string }): MemberError {
  const field = 'resourceVersionMatch'
  return new MemberError({
    code: 422,
    reason: 'Invalid',
    message: `ListOptions.meta.k8s.io "" is invalid: ${field}: ${cause.message}`,
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes: [{ ...cause, field }] },
  })
}

function integer(text: string | null): number | undefined {
  if (text === null || text === '') return undefined
  if (/^[+-]?\d+$/.test(text)) return Number(text)
  throw new MemberError({
    code: 400,
    reason: 'BadRequest',
    message: `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
  })
}

function revision(text: string, watch: boolean): bigint {
  if (/^\d+$/.test(text)) return BigInt(text)
  const problem = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
  // A watch answers 500 without a reason, a list 400: as recorded.
  if (watch) throw new MemberError({ code: 500, message: problem })
  throw new MemberError({
    code: 400,
    reason: 'BadRequest',
    message: `invalid resource version: ${problem}`,
  })
}
