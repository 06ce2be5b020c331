/**
 * The query of a write, and the options of a delete, checked as a real API server checks them.
 *
 * @see apimachinery/pkg/apis/meta/v1/validation/validation.go
 */
import type { Json } from '../../kube/kube-object.ts'
import { boolean } from '../../kube/list-options.ts'
import { messageOf } from '../../kube/message-of.ts'
import { StatusError } from '../../kube/status-error.ts'
import { type Body, parseBody } from '../../registration/body-text.ts'
import type { DeleteOptions } from '../../registration/delete.ts'
import { field, isArray, isObject } from '../../registration/json-text.ts'
import { managerErrors, optionError } from '../../registration/validate-metadata.ts'
import {
  type FieldError,
  forbiddenField,
  invalid,
  invalidField,
  requiredField,
} from '../../registration/validation.ts'
import type { WriteOptions } from '../../registration/write-object.ts'
import type { PatchType } from './request-body.ts'

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

const VALIDATIONS = ['Ignore', 'Strict', 'Warn']
const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil']

/** @throws 422 with every complaint. */
export function writeOptions(
  query: URLSearchParams,
  userAgent: string | undefined,
  kind: OptionsKind,
): WriteOptions {
  const manager = query.get('fieldManager') ?? ''
  const validation = query.get('fieldValidation') ?? ''
  const dryRun = dryRunOf(query)
  refuse(kind, [
    ...dryRun.flatMap((value) => optionError('dryRun', value, ['All'])),
    ...managerErrors('fieldManager', manager),
    ...(validation === '' ? [] : optionError('fieldValidation', validation, VALIDATIONS)),
    ...(kind === 'PatchOptions' || !query.has('force')
      ? []
      : [forbiddenField('force', 'may not be specified for non-patch requests')]),
  ])
  return {
    fieldManager: manager || managerOf(userAgent),
    dryRun: dryRun.length > 0,
    fieldValidation: (validation || 'Warn') as NonNullable<WriteOptions['fieldValidation']>,
  }
}

/** What only an apply may say, and what it must. @throws 422 */
export function checkPatchOptions(query: URLSearchParams, type: PatchType): void {
  const isApply = type === 'apply'
  const manager = query.get('fieldManager') ?? ''
  refuse('PatchOptions', [
    ...(isApply && manager === ''
      ? [requiredField('fieldManager', 'is required for apply patch')]
      : []),
    ...(!isApply && query.has('force')
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
  ])
}

function dryRunOf(query: URLSearchParams): readonly string[] {
  return query.getAll('dryRun').filter((value) => value !== '')
}

const MANAGER_MOST_CHARACTERS = 128

/** The program's name: what stands before the first slash. */
function managerOf(userAgent = ''): string {
  const name = userAgent.split('/', 1)[0]!.replaceAll(/\p{C}/gu, '')
  return name.slice(0, MANAGER_MOST_CHARACTERS) || 'unknown'
}

function refuse(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind, name: '' }, errors)
}

/** From the body, or from the query when there is none. @throws 400, 422 */
export function deleteOptions(query: URLSearchParams, body: Body | undefined): DeleteOptions {
  const given = body && body.text !== '' ? bodyOptions(body) : queryOptions(query)
  const policy = field(given, 'propagationPolicy')
  const dryRun = field(given, 'dryRun')
  const dryRuns = isArray(dryRun) ? dryRun.map(String) : []
  refuse('DeleteOptions', [
    ...(policy === undefined || policy === null
      ? []
      : optionError('propagationPolicy', String(policy), POLICIES)),
    ...(policy && typeof field(given, 'orphanDependents') === 'boolean'
      ? [
          invalidField(
            'propagationPolicy',
            policy,
            'orphanDependents and deletionPropagation cannot be both set',
          ),
        ]
      : []),
    ...dryRuns.flatMap((value) => optionError('dryRun', value, ['All'])),
  ])
  const uid = field(given, 'preconditions', 'uid')
  const resourceVersion = field(given, 'preconditions', 'resourceVersion')
  return {
    dryRun: dryRuns.length > 0,
    preconditions: {
      ...(typeof uid === 'string' && { uid }),
      ...(typeof resourceVersion === 'string' && { resourceVersion }),
    },
    // Nothing here depends on anything, so how to treat dependents makes no difference.
    waitsForDependents: policy === 'Foreground' || field(given, 'orphanDependents') === false,
  }
}

function bodyOptions(body: Body): Json {
  const value = parseOptions(body)
  if (!isObject(value)) throw undecodable('it is no object')
  const { kind } = value
  if (kind !== undefined && kind !== 'DeleteOptions') throw undecodable(`it is a ${kind}`)
  return value
}

function parseOptions(body: Body): Json {
  try {
    return parseBody(body).value
  } catch (error) {
    throw undecodable(messageOf(error))
  }
}

function undecodable(why: string): StatusError {
  return new StatusError('BadRequest', `the body cannot be handled as DeleteOptions: ${why}`)
}

function queryOptions(query: URLSearchParams): Json {
  const policy = query.get('propagationPolicy')
  return {
    dryRun: dryRunOf(query),
    ...(policy && { propagationPolicy: policy }),
    ...(query.has('orphanDependents') && { orphanDependents: boolean(query, 'orphanDependents') }),
  }
}
