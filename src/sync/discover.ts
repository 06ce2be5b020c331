/**
 * Asks a member which types it serves: aggregated discovery, or group by group.
 *
 * A group version whose answer is missing is `broken`: nothing may be concluded from its absence.
 */
import {
  apiVersionOf,
  type GroupVersion,
  groupVersionPath,
  type ResourceInfo,
} from '../kube/group-resource.ts'
import type { MemberClient } from './member-client.ts'
import { MemberError } from './member-error.ts'
import { readAggregated, readGroupList, readResourceList, readVersions } from './read-discovery.ts'

export interface Discovery {
  /** Of every group version that answered; subresources are not among them. */
  readonly resources: readonly ResourceInfo[]
  /** `metrics.k8s.io/v1beta1`, and groups by name alone: their last known types are to be kept. */
  readonly broken: ReadonlySet<string>
}

/** Discovery under one prefix, `/api` or `/apis`. */
interface Part extends Discovery {
  readonly etag?: string | undefined
}

const AGGREGATED = ['v2', 'v2beta1']
  .map((v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',')
/**
 * Resources of all versions, several times what the largest clusters have: a member that tells of
 * more must not keep the syncer busy with them.
 */
const RESOURCES_MOST = 20_000
/** Of group versions asked at once, where discovery is not aggregated. */
const PARALLEL = 8

/** Remembers the last answer, so that a member that can say "not modified" is asked cheaply. */
export class Discoverer {
  readonly #client: MemberClient
  readonly #parts = new Map<string, Part>()

  constructor(client: MemberClient) {
    this.#client = client
  }

  /** @throws MemberError when the member says nothing at all. */
  async discover(signal: AbortSignal): Promise<Discovery> {
    const [core, groups] = await Promise.all([
      this.#part('/api', signal),
      this.#part('/apis', signal),
    ])
    refuseMoreThan(RESOURCES_MOST, core.resources.length + groups.resources.length)
    // Every API server has these; a document without them is a proxy's, or broken.
    if (core.resources.length === 0 && core.broken.size === 0) {
      throw new MemberError('rubbish', 'the answer has no core types: cannot discover types')
    }
    return {
      resources: [...core.resources, ...groups.resources],
      broken: new Set([...core.broken, ...groups.broken]),
    }
  }

  async #part(path: '/api' | '/apis', signal: AbortSignal): Promise<Part> {
    const known = this.#parts.get(path)
    const part = await this.#ask(path, known, signal)
    this.#parts.set(path, part)
    return part
  }

  async #ask(path: '/api' | '/apis', known: Part | undefined, signal: AbortSignal): Promise<Part> {
    const { headers, body } = await this.#client.read({
      path,
      accept: AGGREGATED,
      asked: 'discover types',
      signal,
      ...(known?.etag && { headers: { 'if-none-match': known.etag } }),
    })
    if (body.length === 0 && known) return known
    const document = parsed(body)
    const aggregated = document.kind === 'APIGroupDiscoveryList'
    if (aggregated) return { ...readAggregated(document), etag: headers.etag }
    const versions = path === '/api' ? readVersions(document) : readGroupList(document)
    return this.#eachVersion(versions, signal)
  }

  async #eachVersion(versions: readonly GroupVersion[], signal: AbortSignal): Promise<Part> {
    refuseMoreThan(RESOURCES_MOST, versions.length)
    const resources: ResourceInfo[] = []
    const broken = new Set<string>()
    const left = [...versions]
    const worker = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const found = await this.#version(next, signal)
        if (!found) broken.add(apiVersionOf(next))
        for (const one of found ?? []) resources.push(one)
        refuseMoreThan(RESOURCES_MOST, resources.length)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
    return { resources, broken }
  }

  /** Undefined when this one group version cannot be read; that it is gone (404) is an answer. */
  async #version(of: GroupVersion, signal: AbortSignal): Promise<ResourceInfo[] | undefined> {
    try {
      const request = { path: `/${groupVersionPath(of)}`, asked: 'discover types', signal }
      return readResourceList(await this.#client.readJson(request), of)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof MemberError && error.failure === 'not-found') return []
      return undefined
    }
  }
}

function refuseMoreThan(most: number, count: number): void {
  if (count <= most) return
  throw new MemberError('rubbish', `the answer has more than ${most} types: cannot discover types`)
}

function parsed(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const document = JSON.parse(body.toString('utf8'))
    if (typeof document === 'object' && document !== null) return document
  } catch (error) {
    throw new MemberError('rubbish', 'the answer is not JSON: cannot discover types', {
      cause: error,
    })
  }
  throw new MemberError('rubbish', 'the answer is no object: cannot discover types')
}
