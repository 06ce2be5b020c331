/** What deploy/ comes to: the objects that kustomize and Helm make of it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { anyKubectl } from './kubectl.ts'
import { packedTool } from './packed-tools.ts'

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

/** What `helm` is run with to get the same. */
const HELM_VALUES: Readonly<Record<Overlay, readonly string[]>> = {
  trial: ['--values', 'deploy/helm/fleetglass/values-trial.yaml'],
  production: ['--set', 'monitoring.enabled=true'],
  'production-cert-manager': ['--set', 'monitoring.enabled=true,certificates.source=cert-manager'],
}

/** The one on the PATH, else from a package; undefined where there is none. */
export function findHelm(): string | undefined {
  try {
    execFileSync('helm', ['version'], { stdio: 'ignore' })
    return 'helm'
  } catch {
    return packedTool('helm')
  }
}

/** @param more - further flags. */
export function renderChart(
  helm: string,
  overlay: Overlay,
  more: readonly string[] = [],
): readonly Manifest[] {
  const values = [...HELM_VALUES[overlay], ...more]
  const args = ['template', 'fleetglass', 'deploy/helm/fleetglass', '--include-crds', ...values]
  const namespaced = more.includes('--namespace') ? [] : ['--namespace', 'fleetglass-system']
  return objectsIn(
    execFileSync(helm, [...args, ...namespaced], {
      cwd: REPOSITORY,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
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
