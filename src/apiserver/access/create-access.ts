/**
 * Keeps the rules in memory, made anew after every change of a FleetAccess.
 *
 * A change of rights counts as soon as its signal arrives; a signal that is lost is made up for by
 * reading the rules again every {@link REREAD_SECONDS}.
 */
import type { Clock } from '../../clock.ts'
import type { AccessRule, FleetAccess } from '../../kube/fleet-access.ts'
import type { GroupResource } from '../../kube/group-resource.ts'
import { storedAs } from '../../kube/moved-resources.ts'
import type { Logger } from '../../log.ts'
import type { Catalog, CatalogCache, CatalogCluster } from '../catalog.ts'
import type { Identity } from '../identity.ts'
import type {
  Access,
  AccessQuestion,
  RegistrationRequest,
  ScopeRequest,
  VisibleCluster,
} from './access.ts'
import { forbidden } from './forbidden.ts'
import { authorizeRegistration } from './registration-rights.ts'
import { coversCluster, coversClusterName, coversType, verbsOf } from './rule.ts'
import { type CoversCluster, compileScope, type Granted } from './scope.ts'
import { SubjectIndex } from './subjects.ts'
import { visibleClusters } from './visible.ts'

const REREAD_SECONDS = 30
/** Documents about types are kept for so many readers; more are made again when asked for. */
const READERS_KEPT = 500

/** Where the FleetAccess objects come from. */
export interface AccessSource {
  accessObjects(): Promise<readonly FleetAccess[]>
  /** Calls back after every change, until the signal is aborted. */
  onAccessChange(listener: () => void, signal: AbortSignal): void
}

export interface AccessParts {
  readonly catalog: Pick<CatalogCache, 'current'>
  readonly source: AccessSource
  readonly log: Logger
  readonly clock: Clock
}

/** Reads the rules once before it returns, so that nobody is refused for want of them. */
export async function createAccess(parts: AccessParts): Promise<Access> {
  const rights = new Rights(parts)
  try {
    await rights.start()
  } catch (error) {
    await rights.close()
    throw error
  }
  return rights
}

/** What is worked out from one catalog and one state of the rules. */
interface Derived {
  readonly covers: CoversCluster
  readonly visible: Map<string, readonly VisibleCluster[]>
}

class Rights implements Access {
  readonly #parts: AccessParts
  readonly #closing = new AbortController()
  #subjects = new SubjectIndex([])
  #derived = new WeakMap<Catalog, Derived>()
  #rereading: Promise<void> = Promise.resolve()
  #rereadWaiting = false
  #ticking: Promise<void> = Promise.resolve()

  constructor(parts: AccessParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    const { source } = this.#parts
    // Listening comes first: a change between reading and listening would be missed.
    source.onAccessChange(() => this.#reread(), this.#closing.signal)
    this.#take(await source.accessObjects())
    this.#ticking = this.#rereadNowAndThen()
  }

  scope(identity: Identity, request: ScopeRequest) {
    const scope = compileScope(this.#granted(identity, request), request)
    if (scope !== 'refused') return scope
    const { clusters, ...asked } = request
    throw forbidden(identity, clusters === 'every-cluster' ? asked : { ...asked, clusters })
  }

  visible(identity: Identity): readonly VisibleCluster[] {
    const catalog = this.#parts.catalog.current()
    const { visible, covers } = this.#derive(catalog)
    const reader = JSON.stringify([identity.user, [...identity.groups].sort()])
    const known = visible.get(reader)
    if (known) return known
    const made = visibleClusters(this.rulesOf(identity), catalog.clusters, covers)
    if (visible.size >= READERS_KEPT) visible.clear()
    visible.set(reader, made)
    return made
  }

  mayName(identity: Identity, cluster: string): boolean {
    return this.rulesOf(identity).some((rule) => coversClusterName(rule, cluster))
  }

  authorizeRegistration(identity: Identity, request: RegistrationRequest) {
    const clusters = () => this.#parts.catalog.current().clusters
    return authorizeRegistration({ identity, clusters, rules: this.rulesOf(identity) }, request)
  }

  allows(identity: Identity, question: AccessQuestion): boolean {
    const { cluster, namespace } = question
    const scope = compileScope(this.#granted(identity, question), {
      clusters: cluster === undefined ? 'every-cluster' : [cluster],
      ...(namespace && { namespace }),
    })
    return scope !== 'refused'
  }

  rulesOf(identity: Identity, name?: string): readonly AccessRule[] {
    const rules = this.#subjects.rulesOf(identity)
    if (name === undefined) return rules
    const catalog = this.#parts.catalog.current()
    const cluster = catalog.clusters.find((each) => each.name === name)
    const { covers } = this.#derive(catalog)
    return cluster ? rules.filter((rule) => covers(rule, cluster)) : []
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ticking
    await this.#rereading
  }

  #granted(identity: Identity, asked: GroupResource & { readonly verb: string }): Granted {
    const catalog = this.#parts.catalog.current()
    const type = storedAs(asked)
    return {
      rules: this.rulesOf(identity).filter(
        (rule) => verbsOf(rule).includes(asked.verb) && coversType(rule, asked),
      ),
      clusters: catalog.clusters,
      covers: this.#derive(catalog).covers,
      typeIn: (cluster) => typeIn(cluster, type),
    }
  }

  #derive(catalog: Catalog): Derived {
    const known = this.#derived.get(catalog)
    if (known) return known
    const made = { covers: rememberCovers(), visible: new Map() }
    this.#derived.set(catalog, made)
    return made
  }

  async #rereadNowAndThen(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        await this.#parts.clock.sleep(REREAD_SECONDS * 1000, signal)
      } catch (error) {
        if (signal.aborted) return
        throw error
      }
      this.#reread()
    }
  }

  /** Changes that come while the rules are being read are answered by one more reading. */
  #reread(): void {
    if (this.#rereadWaiting || this.#closing.signal.aborted) return
    this.#rereadWaiting = true
    this.#rereading = this.#rereading.then(async () => {
      this.#rereadWaiting = false
      try {
        this.#take(await this.#parts.source.accessObjects())
      } catch (error) {
        this.#parts.log.warn(
          { err: error },
          'cannot read the FleetAccess objects; the last ones hold',
        )
      }
    })
  }

  #take(objects: readonly FleetAccess[]): void {
    this.#subjects = new SubjectIndex(objects)
    this.#derived = new WeakMap()
  }
}

function typeIn(cluster: CatalogCluster, type: GroupResource) {
  return cluster.resources.find(
    ({ group, resource }) => group === type.group && resource === type.resource,
  )
}

/** Globs and selectors are matched once per rule and cluster, not once per request. */
function rememberCovers(): CoversCluster {
  const known = new Map<AccessRule, Map<number, boolean>>()
  return (rule, cluster) => {
    const ofRule = known.get(rule) ?? new Map<number, boolean>()
    known.set(rule, ofRule)
    const covers = ofRule.get(cluster.id) ?? coversCluster(rule, cluster)
    ofRule.set(cluster.id, covers)
    return covers
  }
}
