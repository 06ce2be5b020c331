/**
 * Clusters and objects from a running server, with the rights of whoever asks.
 *
 * Each cluster is asked apart: so a cluster that may not be read says so, and is not taken for one
 * in which nothing runs.
 */
import { memberPrefix } from '../kube/fleet-prefix.ts'
import { type GroupResource, groupVersionPath } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import {
  CLUSTER_GROUP,
  CLUSTER_VERSION,
  type PediaCluster,
  type SyncCondition,
} from '../kube/pedia-cluster.ts'
import { listAt, textAt } from './field.ts'
import type { DriftSource, Problem, ReadRequest, SourceCluster } from './source.ts'

/** Below the root of a server. Throws {@link ApiFailure}. */
export type ReadApi = (path: string, query: Readonly<Record<string, string>>) => Promise<unknown>

/** An answer that is none; its message is the server's own sentence. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly statusCode: number | undefined

  constructor(message: string, statusCode?: number) {
    super(message)
    this.statusCode = statusCode
  }
}

const CLUSTERS_PATH = `/apis/${CLUSTER_GROUP}/${CLUSTER_VERSION}/pediaclusters`
const PAGE = '500'
const AT_ONCE = 8

/** Versions in which a type is asked for, best first: an old cluster serves the old ones only. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '': ['v1'],
  apps: ['v1'],
  batch: ['v1', 'v1beta1'],
  'apiextensions.k8s.io': ['v1', 'v1beta1'],
}

export function apiSource(read: ReadApi, now: number): DriftSource {
  let known: Promise<readonly PediaCluster[]> | undefined
  const registered = () => {
    known ??= readAll(read, CLUSTERS_PATH, {}).then((items) => items as readonly PediaCluster[])
    return known
  }
  return {
    async clusters() {
      return (await registered()).map((cluster) => sourceCluster(cluster, now))
    },
    async read(request, each) {
      const byName = new Map((await registered()).map((one) => [one.metadata.name, one]))
      const problems = new Map<string, Problem>()
      await eachOf(request.clusters, async (name) => {
        const problem =
          typeProblem(byName.get(name), request.of) ??
          (await readCluster(read, { ...request, name }, (object) => each(name, object)))
        if (problem) problems.set(name, problem)
      })
      return problems
    },
  }
}

function sourceCluster({ metadata, status }: PediaCluster, now: number): SourceCluster {
  const condition = (type: string) => status?.conditions?.find((one) => one.type === type)
  const healthy = condition('ClusterHealthy')
  const running = condition('SynchroRunning')
  const problem: Problem | undefined =
    healthy?.status === 'False'
      ? { why: 'disconnected', message: healthy.message || healthy.reason }
      : running?.status !== 'True'
        ? {
            why: running ? 'stale' : 'not collected',
            message: running?.message || 'not synced yet',
          }
        : undefined
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    version: status?.version || undefined,
    observedAt: new Date(now),
    ...(problem && { problem }),
  }
}

function typeProblem(cluster: PediaCluster | undefined, of: GroupResource): Problem | undefined {
  const found = cluster?.status?.syncResources
    ?.find(({ group }) => group === of.group)
    ?.resources.find(({ name }) => name === of.resource)?.syncConditions[0]
  if (!found || found.reason === 'NotServed') {
    return { why: 'not collected', message: `its ${of.resource} are not synced` }
  }
  return stateProblem(found, of)
}

function stateProblem(
  { status, reason, message, initialListPhase }: SyncCondition,
  of: GroupResource,
): Problem | undefined {
  const text = message || `its ${of.resource} are not in step`
  if (status === 'Error' && reason === 'Forbidden') return { why: 'forbidden', message: text }
  if (initialListPhase) {
    const waiting = `the first list of its ${of.resource} is not complete`
    return { why: 'not collected', message: status === 'Error' ? text : waiting }
  }
  return status === 'Error' || status === 'Stop' ? { why: 'stale', message: text } : undefined
}

async function readCluster(
  read: ReadApi,
  request: ReadRequest & { readonly name: string },
  each: (object: KubeObject) => void,
): Promise<Problem | undefined> {
  let failure: ApiFailure | undefined
  for (const version of VERSIONS[request.of.group] ?? ['v1']) {
    failure = await readVersion(read, { ...request, version }, each)
    if (failure?.statusCode !== 404) break
  }
  if (!failure) return undefined
  const { message, statusCode } = failure
  if (statusCode === 403) return { why: 'forbidden', message }
  if (statusCode === 404) return { why: 'not collected', message }
  throw failure
}

/** @returns why it failed, if the server answered that it does. */
async function readVersion(
  read: ReadApi,
  request: ReadRequest & { readonly name: string; readonly version: string },
  each: (object: KubeObject) => void,
): Promise<ApiFailure | undefined> {
  const { of, name, version, fieldSelector } = request
  const path = `${memberPrefix(name)}${pathOf(of, version)}`
  try {
    for await (const items of pages(read, path, fieldSelector ? { fieldSelector } : {})) {
      for (const item of items) each(item)
    }
    return undefined
  } catch (error) {
    if (error instanceof ApiFailure) return error
    throw error
  }
}

function pathOf({ group, resource }: GroupResource, version: string): string {
  return `/${groupVersionPath({ group, version })}/${resource}`
}

async function readAll(
  read: ReadApi,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly KubeObject[]> {
  const all: KubeObject[] = []
  for await (const items of pages(read, path, query)) all.push(...items)
  return all
}

async function* pages(
  read: ReadApi,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<readonly KubeObject[]> {
  let next: string | undefined
  do {
    const list = await read(path, { ...query, limit: PAGE, ...(next && { continue: next }) })
    yield listAt(list, 'items') as readonly KubeObject[]
    next = textAt(list, 'metadata', 'continue')
  } while (next)
}

/** A few at a time. */
async function eachOf(
  names: readonly string[],
  work: (name: string) => Promise<void>,
): Promise<void> {
  const waiting = names.values()
  const worker = async () => {
    for (const name of waiting) await work(name)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
