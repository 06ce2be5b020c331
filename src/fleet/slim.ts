/** Objects without what no rule looks at: ten thousand pods at once should not need a gigabyte. */
import { type Fields, fields } from '../printers/read-field.ts'
import type { SweptResource } from './swept-resources.ts'

type Slimming = (object: Fields) => Fields

/** What is not here is kept whole. */
const SLIMMING: { readonly [K in SweptResource]?: Slimming } = {
  pods: ({ metadata, status }) => ({ metadata: identityIn(metadata), status }),
  deployments: controller,
  statefulsets: controller,
  daemonsets: controller,
  replicasets: ({ metadata }) => ({ metadata: identityIn(metadata) }),
  jobs: controller,
  cronjobs: ({ metadata, spec, status }) => ({
    metadata: identityIn(metadata),
    spec: { jobTemplate: { spec: specIn(fields(fields(spec).jobTemplate).spec) } },
    status,
  }),
}

export function slimmed(resource: SweptResource, object: Fields): Fields {
  return SLIMMING[resource]?.(object) ?? object
}

function controller({ metadata, spec, status }: Fields): Fields {
  return { metadata: identityIn(metadata), spec: specIn(spec), status }
}

function specIn(spec: unknown): Fields {
  const { replicas, template } = fields(spec)
  const { labels } = fields(fields(template).metadata)
  return { replicas, template: { metadata: { labels } } }
}

function identityIn(metadata: unknown): Fields {
  const { name, namespace, ownerReferences, creationTimestamp, deletionTimestamp } =
    fields(metadata)
  return { name, namespace, ownerReferences, creationTimestamp, deletionTimestamp }
}
