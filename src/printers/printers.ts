/**
 * Which printer prints which resource.
 *
 * Older versions of a built-in kind have the same printer as the newest, which reads the fields
 * of each; kinds that moved between groups are found under the group they are known by now.
 * Not here: custom resources with columns of their own (printers/custom-resource.ts).
 */
import { type GroupVersionResource, qualifiedResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { storedAs } from '../kube/moved-resources.ts'
import { AGE_COLUMN, builtInColumns, NAME_COLUMN } from './columns.ts'
import { deploymentCells } from './deployments.ts'
import { namespaceCells } from './namespaces.ts'
import { podCells } from './pods.ts'
import type { Cell, Printer } from './printer.ts'
import { ageOf, nameOf } from './read-field.ts'

/**
 * Stored with every row's cells. Raise it with every change of what any printer prints: rows of
 * an older version are then printed again.
 */
export const PRINTER_VERSION = 1

const CELLS: Readonly<Record<string, (object: KubeObject) => readonly Cell[]>> = {
  'deployments.apps': deploymentCells,
  namespaces: namespaceCells,
  pods: podCells,
}

/** Name and Age: what is printed of a resource of which nothing else is known. */
const DEFAULT_PRINTER: Printer = {
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: (object) => [nameOf(object), ageOf(object)],
}

const PRINTERS: ReadonlyMap<string, Printer> = new Map(
  Object.entries(CELLS).map(([resource, cells]) => [
    resource,
    { columns: builtInColumns(resource)!, cells },
  ]),
)

/** @param of - Group and version as the member cluster serves them. */
export function printerFor(of: GroupVersionResource & { readonly kind: string }): Printer {
  return PRINTERS.get(qualifiedResource(storedAs(of))) ?? DEFAULT_PRINTER
}
