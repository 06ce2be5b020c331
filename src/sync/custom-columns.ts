/**
 * What a member's CustomResourceDefinitions say: which types are custom, and what they print.
 *
 * A change of columns concerns its own type only; a definition that comes or goes is news for
 * discovery.
 */
import type { GroupResource, ResourceInfo } from '../kube/group-resource.ts'
import { type AdditionalPrinterColumn, customResourcePrinter } from '../printers/custom-resource.ts'
import type { Printer } from '../printers/printer.ts'
import { type Entry, FollowedEntries, type FollowedType, fieldsOf } from './followed-entries.ts'
import { keyOf } from './sync-list.ts'

interface Definition extends Entry {
  readonly type: string
  /** JSON of the columns of each version. */
  readonly columns: ReadonlyMap<string, string>
}

export interface CustomColumnsOptions extends FollowedType {
  /** Definitions came, went or changed their columns. */
  readonly changed: () => void
}

export class CustomColumns {
  readonly #followed: FollowedEntries<Definition>
  #byType = new Map<string, Definition>()

  constructor(options: CustomColumnsOptions) {
    this.#followed = new FollowedEntries({
      ...options,
      read: readDefinition,
      changed: () => {
        const definitions = [...this.#followed.entries.values()]
        this.#byType = new Map(definitions.map((one) => [one.type, one]))
        options.changed()
      },
    })
  }

  /** The definitions are known, or it is known that they cannot be read. */
  get settled(): boolean {
    return this.#followed.settled
  }

  isCustom(type: GroupResource): boolean {
    return this.#byType.has(keyOf(type))
  }

  /** Undefined for what no definition is known of. */
  printerFor(info: ResourceInfo): Printer | undefined {
    const columns = this.#byType.get(keyOf(info))?.columns.get(info.version)
    if (columns === undefined) return undefined
    return customResourcePrinter(JSON.parse(columns) as AdditionalPrinterColumn[])
  }

  /** Equal texts mean equal columns; `''` when none are known. */
  columnsOf(info: ResourceInfo): string {
    return this.#byType.get(keyOf(info))?.columns.get(info.version) ?? ''
  }

  async stop(): Promise<void> {
    await this.#followed.stop()
  }
}

/** Undefined for what is no definition: it then has no columns of its own. */
function readDefinition(object: unknown): Definition | undefined {
  const { metadata, spec: given } = fieldsOf(object)
  const spec = fieldsOf(given)
  const { name } = fieldsOf(metadata)
  const { group, versions } = spec
  const resource = fieldsOf(spec.names).plural
  if (typeof name !== 'string' || typeof group !== 'string' || typeof resource !== 'string') return
  const list = Array.isArray(versions) ? versions.map(fieldsOf) : [{ name: spec.version }]
  const columns = new Map<string, string>()
  for (const version of list) {
    // v1beta1 may have one set of columns for all versions.
    const own = version.additionalPrinterColumns ?? spec.additionalPrinterColumns
    if (typeof version.name === 'string') columns.set(version.name, JSON.stringify(listOf(own)))
  }
  const type = keyOf({ group, resource })
  return { name, type, columns, text: JSON.stringify([type, [...columns]]) }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
