/** What deploy/ comes to: the objects that kustomize and Helm make of it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { anyKubectl } from './kubectl.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind
export type Manifest = any

export const REPOSITORY = join(import.meta.dirname, '../..')
export const OVERLAYS = ['trial', 'production', 'production-cert-manager'] as const
export type Overlay = (typeof OVERLAYS)[number]

const kubectl = anyKubectl()
export const hasKubectl = kubectl !== undefined

export function renderOverlay(overlay: Overlay): readonly Manifest[] {
  return objectsIn(
    execFileSync(kubectl!.path, ['kustomize', `deploy/overlays/${overlay}`], {
      cwd: REPOSITORY,
      encoding: 'utf8',
    }),
  )
}

export function objectsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0]
      return document.toJS()
    })
    .filter((object) => object !== null)
}

/** `Deployment fleetglass-system/fleetglass-syncer` */
export function titleOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`
}

/** Of Deployments, StatefulSets, Jobs and CronJobs. */
export function podTemplateOf({ kind, spec }: Manifest): Manifest | undefined {
  return kind === 'CronJob' ? spec.jobTemplate.spec.template : spec?.template
}

export function ofKind(objects: readonly Manifest[], ...kinds: string[]): readonly Manifest[] {
  return objects.filter(({ kind }) => kinds.includes(kind))
}
