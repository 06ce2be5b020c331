/**
 * Clusters and objects from a running server, with the rights of whoever asks.
 *
 * Each cluster is asked apart: one that may not be read, or of which the server cannot tell now,
 * says so. It is not taken for one in which nothing runs, and does not keep others from being seen.
 */
import { memberPrefix } from '../kube/fleet-prefix.ts'
import { type GroupResource, groupVersionPath, parseApiVersion } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import {
  MIRROR_STATES_PATH,
  type MirrorStates,
  mirrorStatesQuery,
  parseMirrorStates,
  type ToldMirror,
} from '../kube/mirror-state.ts'
import { at, textAt } from './field.ts'
import { CRDS, NODES, PODS, TEMPLATES } from './gather.ts'
import { sourceCluster, typeIn, typeProblem } from './mirror-problems.ts'
import { type DriftSource, objectProblem, type Problem, type ReadRequest } from './source.ts'

/** Below the root of a server. Throws {@link ApiFailure}. */
export type ReadApi = (path: string, query: Readonly<Record<string, string>>) => Promise<unknown>

/** An answer that is none; its message is the server's own sentence. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** Undefined: there was no answer, or it is not what was asked for. */
  readonly statusCode: number | undefined

  constructor(message: string, statusCode?: number) {
    super(message)
    this.statusCode = statusCode
  }
}

const TYPES = [PODS, NODES, CRDS, ...TEMPLATES]
const AT_ONCE = 8
const PAGE_OBJECTS = 500
/** A definition may have a megabyte, and a page is read as one document. */
const PAGE_DEFINITIONS = 40

/** @param maxStalenessMilliseconds - a mirror that is behind by at most this is compared. */
export function apiSource(read: ReadApi, maxStalenessMilliseconds: number): DriftSource {
  let known: Promise<MirrorStates> | undefined
  const states = () => {
    known ??= readStates(read)
    return known
  }
  return {
    async clusters() {
      const { now, clusters } = await states()
      return clusters.map((one) => sourceCluster(one, { now, maxStalenessMilliseconds }))
    },
    async read(request, each) {
      const byName = new Map((await states()).clusters.map((one) => [one.name, one]))
      const problems = new Map<string, Problem>()
      await eachOf(request.clusters, async (name) => {
        const problem = await readCluster(
          read,
          { ...request, mirror: byName.get(name) },
          (object) => each(name, object),
        )
        if (problem) problems.set(name, problem)
      })
      return problems
    },
  }
}

async function readStates(read: ReadApi): Promise<MirrorStates> {
  const states = parseMirrorStates(await read(MIRROR_STATES_PATH, mirrorStatesQuery(TYPES)))
  if (states) return states
  throw new ApiFailure('the server does not tell its clusters: the answer is not understood')
}

interface ClusterRead extends Pick<ReadRequest, 'of' | 'fieldSelector'> {
  readonly mirror: ToldMirror | undefined
}

async function readCluster(
  read: ReadApi,
  { of, fieldSelector, mirror }: ClusterRead,
  each: (object: KubeObject) => void,
): Promise<Problem | undefined> {
  const isAllowed = !mirror?.forbidden.some((type) => isSame(type, of))
  const problem = typeProblem(mirror, isAllowed, of)
  if (problem || !mirror) return problem
  const path = memberPrefix(mirror.name) + pathOf(of, typeIn(mirror, of)!.apiVersion)
  const limit = String(of === CRDS ? PAGE_DEFINITIONS : PAGE_OBJECTS)
  const query = { limit, ...(fieldSelector && { fieldSelector }) }
  try {
    for await (const items of pages(read, path, query)) for (const item of items) each(item)
    return undefined
  } catch (error) {
    return error instanceof ApiFailure ? problemOf(error) : objectProblem(error)
  }
}

function isSame(a: GroupResource, b: GroupResource): boolean {
  return a.group === b.group && a.resource === b.resource
}

function pathOf({ resource }: GroupResource, apiVersion: string): string {
  return `/${groupVersionPath(parseApiVersion(apiVersion))}/${resource}`
}

/** It was there a moment ago, so whatever the server says now is about this cluster alone. */
function problemOf({ message, statusCode }: ApiFailure): Problem {
  switch (statusCode) {
    case 401:
    case 403:
      return { why: 'forbidden', message }
    case 404:
      return { why: 'not collected', message }
    case undefined:
      return { why: 'disconnected', message }
    default:
      return { why: 'stale', message }
  }
}

async function* pages(
  read: ReadApi,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<readonly KubeObject[]> {
  const seen = new Set<string>()
  let next: string | undefined
  do {
    const list = await read(path, { ...query, ...(next && { continue: next }) })
    yield itemsOf(list)
    next = textAt(list, 'metadata', 'continue')
    if (next && seen.has(next)) throw new ApiFailure('the pages of the answer go round in circles')
    if (next) seen.add(next)
  } while (next)
}

/** What has no items is no list: taken for an empty one, nothing would run there. */
function itemsOf(list: unknown): readonly KubeObject[] {
  const items = at(list, 'items')
  if (items === null) return []
  if (!Array.isArray(items)) throw new ApiFailure('the answer is no list')
  if (items.every((item) => typeof item === 'object' && item !== null)) return items
  throw new ApiFailure('an item of the answer is no object')
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
