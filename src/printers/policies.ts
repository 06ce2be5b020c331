/** Disruption budgets, and the pod security policies that servers before 1.25 have. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, integer, isSet, nameOf, text, texts, truth } from './read-field.ts'

export const policies: PrintersByResource = {
  'poddisruptionbudgets.policy': budgetCells,
  'podsecuritypolicies.policy': securityPolicyCells,
}

function budgetCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    intOrPercent(spec.minAvailable),
    intOrPercent(spec.maxUnavailable),
    integer(fields(object.status).disruptionsAllowed),
    ageOf(object),
  ]
}

function intOrPercent(value: unknown): string {
  if (!isSet(value)) return 'N/A'
  return typeof value === 'string' ? value : String(integer(value))
}

function securityPolicyCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    String(truth(spec.privileged)),
    texts(spec.allowedCapabilities).join(','),
    text(fields(spec.seLinux).rule),
    text(fields(spec.runAsUser).rule),
    text(fields(spec.fsGroup).rule),
    text(fields(spec.supplementalGroups).rule),
    truth(spec.readOnlyRootFilesystem),
    texts(spec.volumes).join(','),
  ]
}
