/**
 * Writes kubeconfigs that reach this server.
 *
 * The administrator's has a context `fleetglass` for our own API groups. Its entries `clusterpedia`
 * (the whole fleet) and one for each member cluster are for `kubectl --cluster NAME`. What a user
 * added to the file stays, and entries that point at this server follow it to a new port or CA.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { FLEET_PREFIX, memberPrefix } from '../../kube/fleet-prefix.ts'
import { formatYaml } from '../../kube/format-yaml.ts'
import type { KeyPair } from '../certificates/issue.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { replaceFile } from './write-file.ts'

export interface Reachable {
  /** `https://127.0.0.1:8443`. */
  readonly server: string
  /** PEM. */
  readonly caCert: string
}

export type Credential = { readonly token: string } | KeyPair

export interface KubeconfigRequest {
  readonly path: string
  readonly at: Reachable
  /** Names the entries of context, cluster and user. */
  readonly name: string
  readonly credential: Credential
  /** Of member clusters, each to be an entry of its own. */
  readonly clusters: readonly string[]
}

interface Kubeconfig {
  readonly [field: string]: unknown
  readonly clusters?: ReadonlyArray<Entry<'cluster'>>
  readonly contexts?: ReadonlyArray<Entry<'context'>>
  readonly users?: ReadonlyArray<Entry<'user'>>
  readonly 'current-context'?: string
}

type Entry<Key extends string> = { readonly name: string } & {
  readonly [K in Key]: Readonly<Record<string, unknown>>
}

export function writeKubeconfig(request: KubeconfigRequest): void {
  const { path, at, name, credential } = request
  const old = readOld(path)
  const clusters = [
    clusterEntry(name, at, ''),
    clusterEntry('clusterpedia', at, FLEET_PREFIX),
    ...request.clusters.map((cluster) => clusterEntry(cluster, at, memberPrefix(cluster))),
  ]
  const contexts = [{ name, context: { cluster: name, user: name } }]
  const users = [{ name, user: userOf(credential) }]
  const written: Kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    ...old,
    'current-context': old['current-context'] || name,
    clusters: merge(movedClusters(old, request), clusters),
    contexts: merge(old.contexts, contexts),
    users: merge(old.users, users),
  }
  replaceFile(path, formatYaml(written))
}

/** How the server of this data directory is reached, as its administrator's kubeconfig says. */
export function reachableFrom(dataDir: string): Reachable {
  const path = join(dataDir, 'kubeconfig')
  const { cluster } = readOld(path).clusters?.find(({ name }) => name === 'fleetglass') ?? {}
  const { server, 'certificate-authority-data': ca } = cluster ?? {}
  if (typeof server === 'string' && typeof ca === 'string') {
    return { server, caCert: Buffer.from(ca, 'base64').toString() }
  }
  throw new CommandFailure(`${path} does not say where the server is: start serve once`)
}

function clusterEntry(name: string, at: Reachable, path: string): Entry<'cluster'> {
  const ca = Buffer.from(at.caCert).toString('base64')
  return {
    name,
    cluster: { server: `${at.server}${path}`, 'certificate-authority-data': ca },
  }
}

function userOf(credential: Credential): Readonly<Record<string, string>> {
  if ('token' in credential) return { token: credential.token }
  return {
    'client-certificate-data': Buffer.from(credential.cert).toString('base64'),
    'client-key-data': Buffer.from(credential.key).toString('base64'),
  }
}

function readOld(path: string): Kubeconfig {
  if (!existsSync(path)) return {}
  try {
    const old: unknown = parse(readFileSync(path, 'utf8'))
    return typeof old === 'object' && old !== null ? (old as Kubeconfig) : {}
  } catch (error) {
    throw new CommandFailure(`cannot read the kubeconfig ${path}: ${messageOf(error)}`)
  }
}

/** Entries below the address that this file had for us before, moved to the address of now. */
function movedClusters(old: Kubeconfig, { name, at }: KubeconfigRequest): Kubeconfig['clusters'] {
  const before = old.clusters?.find((entry) => entry.name === name)?.cluster.server
  if (typeof before !== 'string') return old.clusters
  return old.clusters?.map((entry) => {
    const server = String(entry.cluster.server)
    if (server !== before && !server.startsWith(`${before}/`)) return entry
    return clusterEntry(entry.name, at, server.slice(before.length))
  })
}

/** Ours in the place of the old ones of the same names; the rest as they were. */
function merge<T extends { readonly name: string }>(
  old: readonly T[] | undefined,
  ours: readonly T[],
): readonly T[] {
  const names = new Set(ours.map(({ name }) => name))
  return [...ours, ...(old ?? []).filter(({ name }) => !names.has(name))]
}
