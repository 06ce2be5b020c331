/**
 * `--import-kubeconfig`: a member cluster for each context of a kubeconfig, without manifests.
 *
 * The registration says only what to sync. Address and credentials stay in the file, which the
 * syncers use as kubectl would: paths, exec plugins and all.
 */
import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { JsonObject } from '../kube/kube-object.ts'
import { CLUSTER_API_VERSION, CLUSTER_GROUP, IMPORTED_ANNOTATION } from '../kube/pedia-cluster.ts'
import { StatusError } from '../kube/status-error.ts'
import type { Body } from '../registration/body-text.ts'
import { field } from '../registration/json-text.ts'
import { kindOfResource } from '../registration/kinds.ts'
import { nameOf } from '../registration/lifecycle.ts'
import type { Registrations } from '../registration/registrations.ts'
import { credentialsFromKubeconfig, type TrustedKubeconfig } from '../sync/credentials.ts'
import { InvalidConfig } from '../sync/member-access.ts'
import { CommandFailure, messageOf } from './failure.ts'

const OPTIONS = { fieldManager: 'fleetglass-import' }
const KIND = kindOfResource(CLUSTER_GROUP, 'pediaclusters')

export interface ImportedContext extends TrustedKubeconfig {
  readonly context: string
}

export interface ImportRequest {
  readonly importKubeconfig?: string
  readonly context?: readonly string[]
}

/** @throws CommandFailure naming the file and what is wrong in it. */
export async function readImports({
  importKubeconfig,
  context,
}: ImportRequest): Promise<readonly ImportedContext[]> {
  if (importKubeconfig === undefined) {
    if (context === undefined) return []
    throw new CommandFailure('--context needs --import-kubeconfig', { exitCode: 2 })
  }
  const path = resolve(importKubeconfig)
  const text = readText(path)
  const known = await contextNames(path, text)
  const unknown = context?.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new CommandFailure(`${path} has no context ${JSON.stringify(unknown)}`)
  }
  const imports = (context ?? known).map((name) => importOf(path, text, name))
  refuseSameName(path, imports)
  return imports
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandFailure(`cannot read the kubeconfig ${path}: ${messageOf(error)}`)
  }
}

/** The client library is loaded for this alone: it costs more memory than the rest of the server. */
async function contextNames(path: string, text: string): Promise<readonly string[]> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const kubeconfig = new KubeConfig()
  try {
    kubeconfig.loadFromString(text)
  } catch (error) {
    // The library's message may quote the text, and the text holds credentials.
    throw new CommandFailure(`${path} is not a kubeconfig`, { cause: error })
  }
  const names = kubeconfig.getContexts().map(({ name }) => name)
  if (names.length === 0) throw new CommandFailure(`${path} is not a kubeconfig with contexts`)
  return names
}

function importOf(path: string, kubeconfig: string, context: string): ImportedContext {
  const baseDir = dirname(path)
  try {
    const options = { field: basename(path), context, trusted: true, baseDir }
    credentialsFromKubeconfig(kubeconfig, options)
    return { name: clusterNameOf(context), kubeconfig, context, baseDir }
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    throw new CommandFailure(`cannot import the kubeconfig ${path}: ${error.message}`)
  }
}

/** A context may have any name, an object only one of RFC 1123: `arn:aws:eks:…/prod` and `a@b`. */
export function clusterNameOf(context: string): string {
  const name = context
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .split('.')
    .map((label) => label.replaceAll(/^-+|-+$/g, '').slice(-63))
    .filter((label) => label !== '')
    .join('.')
  return name.replaceAll(/^-+/g, '') || 'cluster'
}

function refuseSameName(path: string, imports: readonly ImportedContext[]): void {
  for (const [name, same] of Map.groupBy(imports, (each) => each.name)) {
    if (same.length < 2) continue
    const contexts = same.map(({ context }) => JSON.stringify(context)).join(' and ')
    throw new CommandFailure(
      `the contexts ${contexts} of ${path} would both be the cluster ${name}: choose with --context`,
    )
  }
}

/**
 * Makes the registrations of these contexts, and removes those of earlier starts whose context is
 * not imported any more. What a user registered is left alone.
 */
export async function registerImports(
  registrations: Registrations,
  imports: readonly ImportedContext[],
): Promise<void> {
  const before = await registrations.list({ kind: KIND, selects: isImported })
  for (const imported of imports) {
    await register(registrations, imported).catch((error: unknown) => {
      if (!(error instanceof StatusError)) throw error
      throw new CommandFailure(`the context ${JSON.stringify(imported.context)}: ${error.message}`)
    })
  }
  const names = new Set(imports.map(({ name }) => name))
  for (const name of before.items.map(({ object }) => nameOf(object))) {
    if (!names.has(name)) await registrations.delete({ kind: KIND, name, options: {} })
  }
}

async function register(
  registrations: Registrations,
  { name, context }: ImportedContext,
): Promise<void> {
  const found = await registrations.list({
    kind: KIND,
    selects: (object) => nameOf(object) === name,
  })
  const [before] = found.items
  if (before && !isImported(before.object)) {
    throw new CommandFailure(
      `the context ${JSON.stringify(context)} cannot be imported: a PediaCluster ${name} that was ` +
        'not made from a kubeconfig is there already',
    )
  }
  // What a user chose to sync since stays.
  if (before) return
  const manifest = {
    apiVersion: CLUSTER_API_VERSION,
    kind: 'PediaCluster',
    metadata: { name, annotations: { [IMPORTED_ANNOTATION]: context } },
    // Without an address of its own: only then is it reached as the kubeconfig says.
    spec: { syncResources: [{ group: '*', resources: ['*'] }] },
  }
  await registrations.create({ kind: KIND, body: bodyOf(manifest), options: OPTIONS })
}

function bodyOf(object: object): Body {
  return { text: JSON.stringify(object), format: 'json' }
}

function isImported(object: JsonObject): boolean {
  return field(object, 'metadata', 'annotations', IMPORTED_ANNOTATION) !== undefined
}
