/**
 * Complaints about fields of an object, and the 422 they add up to.
 *
 * The words are apimachinery's, since kubectl prints them as they are.
 *
 * @see apimachinery/pkg/util/validation/field/errors.go, apimachinery/pkg/api/errors
 */
import type { Json } from '../kube/kube-object.ts'
import { StatusError } from '../kube/status-error.ts'
import { formatJson, quote } from './json-text.ts'

/** CauseType → what a message of it begins with. */
const WORDS = {
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
} as const

export type FieldErrorReason = keyof typeof WORDS

export interface FieldError {
  readonly reason: FieldErrorReason
  /** `spec.syncResources[0].group`. */
  readonly field: string
  /** Without the field. */
  readonly message: string
}

/** Those that never show the value. */
const WITHOUT_VALUE: ReadonlySet<FieldErrorReason> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
])

/** @param what - its value is left out where it must not be shown, and for reasons that show none. */
export function fieldError(
  reason: FieldErrorReason,
  field: string,
  what: { readonly value?: Json; readonly detail?: string },
): FieldError {
  let message: string = WORDS[reason]
  if (!WITHOUT_VALUE.has(reason) && what.value !== undefined) message += `: ${shown(what.value)}`
  if (what.detail) message += `: ${what.detail}`
  return { reason, field, message }
}

export const invalidField = (field: string, value: Json, detail: string) =>
  fieldError('FieldValueInvalid', field, { value, detail })

export const forbiddenField = (field: string, detail: string) =>
  fieldError('FieldValueForbidden', field, { detail })

export const requiredField = (field: string, detail = '') =>
  fieldError('FieldValueRequired', field, { detail })

export function unsupportedField(
  field: string,
  value: Json,
  supported: readonly string[],
): FieldError {
  const detail = `supported values: ${supported.map(quote).join(', ')}`
  return fieldError('FieldValueNotSupported', field, { value, detail })
}

function shown(value: Json): string {
  return typeof value === 'string' ? quote(value) : formatJson(value)
}

/** What was checked, as the message names it. */
export interface Checked {
  readonly group: string
  readonly kind: string
  readonly name: string
}

/** The 422 that lists every complaint. */
export function invalid(of: Checked, errors: readonly FieldError[]): StatusError {
  const sentences = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  const list = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`
  return new StatusError('Invalid', `${kind} ${quote(of.name)} is invalid: ${list}`, {
    details: {
      ...(of.name && { name: of.name }),
      ...(of.group && { group: of.group }),
      ...(of.kind && { kind: of.kind }),
      causes: errors,
    },
  })
}
