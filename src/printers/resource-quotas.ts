/** `kubectl get resourcequotas`: what is used of what, limits apart from the rest. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { quantityText } from './quantity.ts'
import { ageOf, fields, nameOf } from './read-field.ts'

export const resourceQuotas: PrintersByResource = { resourcequotas: resourceQuotaCells }

function resourceQuotaCells(object: KubeObject): readonly Cell[] {
  const { hard, used } = fields(object.status)
  const requests: string[] = []
  const limits: string[] = []
  for (const [resource, limit] of Object.entries(fields(hard)).sort(byKey)) {
    const column = resource.startsWith('limits.') ? limits : requests
    const current = fields(used)
    const spent = Object.hasOwn(current, resource) ? current[resource] : undefined
    column.push(`${resource}: ${quantityText(spent)}/${quantityText(limit)}`)
  }
  return [nameOf(object), requests.join(', '), limits.join(', '), ageOf(object)]
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
