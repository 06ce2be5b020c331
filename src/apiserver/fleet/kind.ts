/**
 * What the resources of `fleet.fleetglass.io` have in common. One file each says what it shows;
 * none is stored: each is worked out from the mirror when it is asked for.
 */
import type { JsonObject } from '../../kube/kube-object.ts'
import type { AdditionalPrinterColumn } from '../../printers/custom-resource.ts'
import type { RegistrationKind } from '../../registration/kinds.ts'
import { METADATA, type Schema } from '../../registration/schema.ts'
import type { FleetView } from './view.ts'

export const FLEET_API = { group: 'fleet.fleetglass.io', version: 'v1alpha1' } as const

export interface FleetAnswer {
  readonly objects: readonly FleetObject[]
  /** What the objects do not tell, and a reader must know. */
  readonly warnings: readonly string[]
}

export interface FleetObject {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly status: JsonObject
}

export interface FleetKind extends RegistrationKind {
  /** Whether objects are named after clusters: then one is worked out without the others. */
  readonly namedAfterClusters: boolean
  /** What it can be asked for besides clusters and objects: manner.ts. */
  readonly takes: 'baseline' | 'nodes'
  answer(view: FleetView): Promise<FleetAnswer>
}

interface Declared extends Pick<FleetKind, 'kind' | 'namedAfterClusters' | 'takes' | 'answer'> {
  readonly resource: string
  readonly shortName: string
  readonly description: string
  /** Of `status`. */
  readonly fields: Readonly<Record<string, Schema>>
  /** The last one, when it was observed, is added. */
  readonly columns: readonly AdditionalPrinterColumn[]
}

const OBSERVED_AT: Schema = {
  type: 'string',
  format: 'date-time',
  description: 'As of when: the last news of what this is worked out from.',
}

export function fleetKind(declared: Declared): FleetKind {
  const { resource, kind, shortName, description, fields, columns } = declared
  return {
    ...FLEET_API,
    ...{ resource, kind, listKind: `${kind}List`, singularName: kind.toLowerCase() },
    ...{ shortNames: [shortName], categories: ['fleet'], namespaced: false },
    verbs: ['get', 'list'],
    hasStatus: false,
    schema: {
      description,
      type: 'object',
      properties: {
        apiVersion: text('Group and version of this representation of the object.'),
        kind: text('The kind of the object, in CamelCase.'),
        metadata: METADATA,
        status: {
          description: 'What was found.',
          type: 'object',
          properties: { ...fields, observedAt: OBSERVED_AT },
        },
      },
    },
    columns: [...columns, column('Observed', 'observedAt', { type: 'date' })],
    namedAfterClusters: declared.namedAfterClusters,
    takes: declared.takes,
    answer: declared.answer,
  }
}

export function column(
  name: string,
  field: string,
  more: Partial<AdditionalPrinterColumn> = {},
): AdditionalPrinterColumn {
  return { name, type: 'string', jsonPath: `.status.${field}`, ...more }
}

export function text(description: string): Schema {
  return { description, type: 'string' }
}

export function flag(description: string): Schema {
  return { description, type: 'boolean' }
}

export function number(description: string): Schema {
  return { description, type: 'integer' }
}

export function texts(description: string): Schema {
  return { description, type: 'array', items: { type: 'string' } }
}

export function objects(description: string, properties: Readonly<Record<string, Schema>>): Schema {
  return { description, type: 'array', items: { type: 'object', properties } }
}
