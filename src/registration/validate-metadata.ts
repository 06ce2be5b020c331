/**
 * Rules on `metadata` that hold for every kind, in apimachinery's words.
 *
 * @see apimachinery/pkg/api/validation/objectmeta.go, apimachinery/pkg/apis/meta/v1/validation
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { labelKeyProblems, labelValueProblems, subdomainProblems } from '../kube/label-syntax.ts'
import { field, formatJson, isArray, isObject, quote } from './json-text.ts'
import {
  type FieldError,
  fieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from './validation.ts'

const ANNOTATIONS_MOST_BYTES = 256 * 1024
const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

/** What is wrong with the metadata of an object that is to be stored. */
export function validateMetadata(metadata: JsonObject): readonly FieldError[] {
  return [
    ...nameErrors(metadata),
    ...labelErrors(field(metadata, 'labels')),
    ...annotationErrors(field(metadata, 'annotations')),
    ...ownerErrors(field(metadata, 'ownerReferences')),
    ...finalizerErrors(field(metadata, 'finalizers')),
    ...managedFieldsErrors(field(metadata, 'managedFields')),
  ]
}

function nameErrors(metadata: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const { name, generateName } = metadata
  if (typeof generateName === 'string' && generateName !== '') {
    // A trailing dash is fine here: something comes after it.
    const rest = generateName.endsWith('-') ? `${generateName.slice(0, -1)}a` : generateName
    for (const problem of subdomainProblems(rest)) {
      errors.push(invalidField('metadata.generateName', generateName, problem))
    }
  }
  if (typeof name !== 'string' || name === '') {
    errors.push(requiredField('metadata.name', 'name or generateName is required'))
    return errors
  }
  for (const problem of subdomainProblems(name)) {
    errors.push(invalidField('metadata.name', name, problem))
  }
  return errors
}

function labelErrors(labels: Json | undefined): readonly FieldError[] {
  return stringEntries(labels).flatMap(([key, value]) => [
    ...labelKeyProblems(key).map((problem) => invalidField('metadata.labels', key, problem)),
    ...labelValueProblems(value).map((problem) => invalidField('metadata.labels', value, problem)),
  ])
}

function annotationErrors(annotations: Json | undefined): readonly FieldError[] {
  const entries = stringEntries(annotations)
  const errors = entries.flatMap(([key]) =>
    labelKeyProblems(key.toLowerCase()).map((problem) =>
      invalidField('metadata.annotations', key, problem),
    ),
  )
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  if (bytes <= ANNOTATIONS_MOST_BYTES) return errors
  const detail = `may not be more than ${ANNOTATIONS_MOST_BYTES} bytes`
  return [...errors, fieldError('FieldValueTooLong', 'metadata.annotations', { detail })]
}

function stringEntries(map: Json | undefined): ReadonlyArray<readonly [string, string]> {
  if (!isObject(map)) return []
  return Object.entries(map).map(([key, value]) => [key, typeof value === 'string' ? value : ''])
}

function ownerErrors(owners: Json | undefined): readonly FieldError[] {
  if (!isArray(owners)) return []
  const errors = owners.flatMap((owner, index) =>
    ['apiVersion', 'kind', 'name', 'uid']
      .filter((key) => !field(owner, key))
      .map((key) =>
        invalidField(`metadata.ownerReferences[${index}].${key}`, '', 'must not be empty'),
      ),
  )
  const controllers = owners.filter((owner) => field(owner, 'controller') === true)
  if (controllers.length < 2) return errors
  const names = controllers
    .slice(0, 2)
    .map((owner) => `${field(owner, 'kind')}/${field(owner, 'name')}`)
  const rule = `Only one reference can have Controller set to true. Found "true" in references for ${names.join(' and ')}`
  return [...errors, invalidField('metadata.ownerReferences', [...owners], rule)]
}

function finalizerErrors(finalizers: Json | undefined): readonly FieldError[] {
  if (!isArray(finalizers)) return []
  return finalizers.flatMap((finalizer, index) => {
    const text = String(finalizer)
    const path = `metadata.finalizers[${index}]`
    const problems = labelKeyProblems(text).map((problem) => invalidField(path, text, problem))
    if (problems.length > 0 || text.includes('/') || STANDARD_FINALIZERS.has(text)) return problems
    return [
      invalidField(
        path,
        text,
        'name is neither a standard finalizer name nor is it fully qualified',
      ),
    ]
  })
}

function managedFieldsErrors(entries: Json | undefined): readonly FieldError[] {
  if (!isArray(entries)) return []
  return entries.flatMap((entry, index) => {
    const path = `metadata.managedFields[${index}]`
    const operation = field(entry, 'operation') ?? ''
    const type = field(entry, 'fieldsType') ?? ''
    return [
      ...(operation === 'Apply' || operation === 'Update'
        ? []
        : [invalidField(`${path}.operation`, operation, 'must be `Apply` or `Update`')]),
      ...(type === '' || type === 'FieldsV1'
        ? []
        : [invalidField(`${path}.fieldsType`, type, 'must be `FieldsV1`')]),
      ...managerErrors(`${path}.manager`, field(entry, 'manager')),
    ]
  })
}

const MANAGER_MOST_BYTES = 128

/** A field manager's name, here or in a query. */
export function managerErrors(path: string, manager: Json | undefined): readonly FieldError[] {
  if (typeof manager !== 'string') return []
  if (Buffer.byteLength(manager) > MANAGER_MOST_BYTES) {
    const detail = `may not be more than ${MANAGER_MOST_BYTES} bytes`
    return [fieldError('FieldValueTooLong', path, { detail })]
  }
  return /\p{C}/u.test(manager)
    ? [invalidField(path, manager, 'should only contain printable characters')]
    : []
}

/** What of the metadata may not change, once an object is stored. */
export function validateMetadataUpdate(
  metadata: JsonObject,
  old: JsonObject,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) errors.push(...newFinalizerErrors(metadata, old))
  for (const key of IMMUTABLE) {
    const value = metadata[key]
    const before = old[key]
    if (formatJson(value ?? null) === formatJson(before ?? null)) continue
    errors.push(invalidField(`metadata.${key}`, value ?? null, 'field is immutable'))
  }
  return errors
}

const IMMUTABLE = ['name', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

function newFinalizerErrors(metadata: JsonObject, old: JsonObject): readonly FieldError[] {
  const before = finalizersOf(old)
  const added = finalizersOf(metadata).filter((finalizer) => !before.includes(finalizer))
  if (added.length === 0) return []
  const list = `[]string{${added.map(quote).join(', ')}}`
  return [
    forbiddenField(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
    ),
  ]
}

export function finalizersOf(metadata: JsonObject): readonly string[] {
  const { finalizers } = metadata
  return isArray(finalizers) ? finalizers.map(String) : []
}

/** Complaint about a query option that takes one of a few words. */
export function optionError(
  option: string,
  value: string,
  supported: readonly string[],
): readonly FieldError[] {
  return supported.includes(value) ? [] : [unsupportedField(option, value, supported)]
}
