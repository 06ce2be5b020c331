/** Rules of single kinds that a schema cannot say. */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { field, isArray } from './json-text.ts'
import type { RegistrationKind } from './kinds.ts'
import { type FieldError, forbiddenField, invalidField, requiredField } from './validation.ts'

type Rules = (object: JsonObject) => readonly FieldError[]

const RULES: Readonly<Record<string, Rules>> = {
  pediaclusters: (object) => serverErrors(field(object, 'spec', 'apiserver')),
  fleetaccesses: (object) => [
    ...subjectErrors(field(object, 'spec', 'subjects')),
    ...ruleErrors(field(object, 'spec', 'rules')),
  ],
}

export function validateKind(object: JsonObject, kind: RegistrationKind): readonly FieldError[] {
  return RULES[kind.resource]?.(object) ?? []
}

function serverErrors(given: Json | undefined): readonly FieldError[] {
  if (typeof given !== 'string' || given === '') return []
  const hasProtocol = given.includes('://')
  // Another protocol is what the schema complains of.
  if (hasProtocol && !/^https?:\/\//.test(given)) return []
  const url = hasProtocol ? given : `https://${given}`
  if (!URL.canParse(url)) return [invalidField('spec.apiserver', given, 'must be a URL')]
  const { username, password, search, hash } = new URL(url)
  // The URL is served to every reader, also as a column.
  if (username !== '' || password !== '') {
    const rule = 'must not hold a user name or password; use tokenData, or certData and keyData'
    return [invalidField('spec.apiserver', 'hidden', rule)]
  }
  return search === '' && hash === ''
    ? []
    : [invalidField('spec.apiserver', given, 'must not have a query or fragment')]
}

function subjectErrors(subjects: Json | undefined): readonly FieldError[] {
  if (!isArray(subjects)) return []
  return subjects.flatMap((subject, index) => {
    const path = `spec.subjects[${index}].namespace`
    const isAccount = field(subject, 'kind') === 'ServiceAccount'
    const namespace = field(subject, 'namespace') ?? ''
    if (isAccount && namespace === '') return [requiredField(path, 'of a ServiceAccount')]
    return !isAccount && namespace !== ''
      ? [forbiddenField(path, 'only a ServiceAccount has a namespace')]
      : []
  })
}

/** @see apimachinery/pkg/apis/meta/v1/validation, ValidateLabelSelectorRequirement */
function ruleErrors(rules: Json | undefined): readonly FieldError[] {
  if (!isArray(rules)) return []
  return rules.flatMap((rule, ruleIndex) => {
    const expressions = field(rule, 'clusterSelector', 'matchExpressions')
    if (!isArray(expressions)) return []
    return expressions.flatMap((expression, index) =>
      expressionErrors(
        expression,
        `spec.rules[${ruleIndex}].clusterSelector.matchExpressions[${index}].values`,
      ),
    )
  })
}

function expressionErrors(expression: Json, path: string): readonly FieldError[] {
  const values = field(expression, 'values')
  const hasValues = isArray(values) && values.length > 0
  switch (field(expression, 'operator')) {
    case 'In':
    case 'NotIn':
      return hasValues
        ? []
        : [requiredField(path, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return hasValues
        ? [
            forbiddenField(
              path,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ]
        : []
    default:
      return [] // the schema has complained
  }
}
