/** The kinds of admissionregistration.k8s.io: webhooks, policies and their bindings. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  type Fields,
  fields,
  isSet,
  items,
  nameOf,
  text,
  texts,
  UNSET,
} from './read-field.ts'

export const admission: PrintersByResource = {
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookCells,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookCells,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': (object) =>
    policyCells(object, fields(object.spec).mutations),
  'validatingadmissionpolicies.admissionregistration.k8s.io': (object) =>
    policyCells(object, fields(object.spec).validations),
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': bindingCells,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': bindingCells,
}

function webhookCells(object: KubeObject): readonly Cell[] {
  return [nameOf(object), items(object.webhooks).length, ageOf(object)]
}

function policyCells(object: KubeObject, rules: unknown): readonly Cell[] {
  const { paramKind } = fields(object.spec)
  const { apiVersion, kind } = fields(paramKind)
  return [
    nameOf(object),
    items(rules).length,
    isSet(paramKind) ? `${text(apiVersion)}/${text(kind)}` : UNSET,
    ageOf(object),
  ]
}

function bindingCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [nameOf(object), text(spec.policyName), paramText(fields(spec.paramRef)), ageOf(object)]
}

/** A parameter without namespace may still be in one: that of the object under review. */
function paramText({ name, namespace, selector }: Fields): string {
  if (text(name) !== '') return `${text(namespace) || '*'}/${text(name)}`
  return isSet(selector) ? goSelector(fields(selector)) : UNSET
}

/** The selector as Go's generated String method writes it, which is what upstream prints. */
function goSelector({ matchLabels, matchExpressions }: Fields): string {
  const labels = Object.entries(fields(matchLabels))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${text(value)},`)
  const requirements = items(matchExpressions).map((item) => {
    const { key, operator, values } = fields(item)
    return `LabelSelectorRequirement{Key:${text(key)},Operator:${text(operator)},Values:[${texts(values).join(' ')}],},`
  })
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}
