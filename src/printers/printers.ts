/**
 * Which printer prints which resource.
 *
 * Older versions of a built-in kind have the same printer as the newest, which reads the fields
 * of each; kinds that moved between groups are found under the group they are known by now.
 * Not here: custom resources with columns of their own (printers/custom-resource.ts).
 */
import { type GroupVersionResource, qualifiedResource } from '../kube/group-resource.ts'
import { storedAs } from '../kube/moved-resources.ts'
import { admission } from './admission.ts'
import { apiKinds } from './api-kinds.ts'
import { autoscalers } from './autoscalers.ts'
import { certificates } from './certificates.ts'
import { AGE_COLUMN, builtInColumns, NAME_COLUMN } from './columns.ts'
import { coreKinds } from './core.ts'
import { plainKinds } from './created-at.ts'
import { dynamicResources } from './dynamic-resources.ts'
import { endpoints } from './endpoints.ts'
import { events } from './events.ts'
import { flowControl } from './flow-control.ts'
import { ingresses } from './ingresses.ts'
import { jobs } from './jobs.ts'
import { leases } from './leases.ts'
import { networkKinds } from './network.ts'
import { nodes } from './nodes.ts'
import { podConditions, pods } from './pods.ts'
import { policies } from './policies.ts'
import type { Printer, PrintersByResource } from './printer.ts'
import { rbac } from './rbac.ts'
import { ageOf, nameOf } from './read-field.ts'
import { resourceQuotas } from './resource-quotas.ts'
import { scheduling } from './scheduling.ts'
import { services } from './services.ts'
import { storage } from './storage.ts'
import { volumes } from './volumes.ts'
import { workloads } from './workloads.ts'

/**
 * Stored with every row's cells. Raise it with every change of what any printer prints: rows of
 * an older version are then printed again.
 */
export const PRINTER_VERSION = 6

const BUILT_IN: PrintersByResource = {
  ...admission,
  ...apiKinds,
  ...autoscalers,
  ...certificates,
  ...coreKinds,
  ...plainKinds,
  ...dynamicResources,
  ...endpoints,
  ...events,
  ...flowControl,
  ...ingresses,
  ...jobs,
  ...leases,
  ...networkKinds,
  ...nodes,
  ...pods,
  ...policies,
  ...rbac,
  ...resourceQuotas,
  ...scheduling,
  ...services,
  ...storage,
  ...volumes,
  ...workloads,
}

/** Name and Age: what is printed of a resource of which nothing else is known. */
const DEFAULT_PRINTER: Printer = {
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: (object) => [nameOf(object), ageOf(object)],
}

const PRINTERS: ReadonlyMap<string, Printer> = new Map(
  Object.entries(BUILT_IN).map(([resource, cells]) => [
    resource,
    {
      columns: builtInColumns(resource)!,
      cells,
      ...(resource === 'pods' && { conditions: podConditions }),
    },
  ]),
)

/** @param of - Group and version as the member cluster serves them. */
export function printerFor(of: GroupVersionResource & { readonly kind: string }): Printer {
  return PRINTERS.get(qualifiedResource(storedAs(of))) ?? DEFAULT_PRINTER
}
