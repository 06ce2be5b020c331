/** The kinds of `clusterpedia.io` as `kubectl explain` shows them: none is stored, none written. */
import { FLEET_GROUP, FLEET_VERSION } from '../../kube/fleet-prefix.ts'
import type { RegistrationKind } from '../../registration/kinds.ts'
import { type OpenApiV3Document, openApiOf } from '../../registration/open-api.ts'
import { METADATA, type Schema } from '../../registration/schema.ts'

export const MIRROR_API = { group: FLEET_GROUP, version: FLEET_VERSION } as const

const TYPE_FIELDS = {
  apiVersion: text('Group and version of this representation of the object.'),
  kind: text('The kind of the object, in CamelCase.'),
}

const COLLECTION = mirrorKind('collectionresources', 'CollectionResource', {
  description:
    'Objects of several types in one list: of workloads, of kuberesources, or of any types that a request names by groups and resources. All conditions, orders and pages of a list hold, as queries of the URL.',
  type: 'object',
  properties: {
    ...TYPE_FIELDS,
    metadata: METADATA,
    resourceTypes: {
      description: 'The types that it is made of.',
      type: 'array',
      items: {
        type: 'object',
        properties: {
          group: text('API group; empty for the core group.'),
          version: text('Version of the group; left out: any.'),
          kind: text('Kind of the objects, where it is known.'),
          resource: text('Plural name; empty: all of the group.'),
        },
      },
    },
    items: {
      description: 'The objects, each as its own member cluster sent it.',
      type: 'array',
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
    continue: text('Token that asks for the next page.'),
    remainingItemCount: { description: 'How many objects follow, if asked for.', type: 'integer' },
  },
})

const RESOURCES = mirrorKind('resources', 'Resources', {
  description:
    'The whole fleet as one Kubernetes API, read-only: any Kubernetes path may follow, and below clusters/NAME that of one member. kubectl asks it by --cluster clusterpedia.',
  type: 'object',
  properties: {
    ...TYPE_FIELDS,
    paths: {
      description: 'What can be asked.',
      type: 'array',
      items: { type: 'string' },
    },
  },
})

/** The document of `apis/clusterpedia.io/v1beta1`, by that path. */
export function mirrorOpenApi(): ReadonlyMap<string, OpenApiV3Document> {
  return openApiOf([COLLECTION, RESOURCES])
}

function mirrorKind(resource: string, kind: string, schema: Schema): RegistrationKind {
  return {
    ...MIRROR_API,
    ...{ resource, kind, listKind: `${kind}List`, singularName: kind.toLowerCase() },
    ...{ shortNames: [], categories: [], namespaced: false, verbs: ['get', 'list'] },
    ...{ hasStatus: false, schema, columns: [] },
  }
}

function text(description: string): Schema {
  return { description, type: 'string' }
}
