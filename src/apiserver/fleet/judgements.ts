/**
 * The health sweep of clusters, from the store, with what `fleetglass fleet` has as defaults.
 *
 * A cluster is judged once for all who ask within some seconds, whatever they may see of it; who
 * may see some namespaces only is shown what was found in those.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { MirrorWishes } from '../../fleet/mirrored-cluster.ts'
import { MINUTE } from '../../fleet/observation.ts'
import type { UnreachableReason } from '../../fleet/outcome.ts'
import { storeSource } from '../../fleet/store-source.ts'
import { type Judgement, judge, reasonOf, type Target, Unreachable } from '../../fleet/sweep.ts'
import { sweptType } from '../../fleet/swept-resources.ts'
import type { Logger } from '../../log.ts'
import type { Store } from '../../store/connect.ts'
import type { ReadScope, ScopedCluster } from '../../store/read-scope.ts'
import { openReadView } from '../../store/read-view.ts'
import { BriefCache } from './brief-cache.ts'
import { OneAtATime } from './one-at-a-time.ts'

const MAX_STALENESS = 5 * MINUTE
/** More clusters than these are judged again for each who asks. */
const CLUSTERS_KEPT = 5000

export interface Judged {
  readonly found: Judgement | UnreachableReason
  /** Undefined when nothing was seen. */
  readonly observedAt: number | undefined
}

export interface JudgementParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** What registrations ask to be mirrored: which tells what a cluster does not serve. */
  readonly wishes: () => Promise<(cluster: string) => MirrorWishes | undefined>
}

/** By which rules, beside those of every sweep. */
export interface JudgedRules {
  readonly nodes: boolean
}

export class Judgements {
  readonly #parts: JudgementParts
  readonly #judged: BriefCache<Judged>
  readonly #turns = new OneAtATime()

  constructor(parts: JudgementParts) {
    this.#parts = parts
    this.#judged = new BriefCache(parts.clock, CLUSTERS_KEPT)
  }

  /** By name of the cluster, as far as the reader may see. */
  async of(scope: ReadScope, rules: JudgedRules): Promise<ReadonlyMap<string, Judged>> {
    const keyOf = ({ id }: ScopedCluster) => JSON.stringify([id, rules.nodes])
    const missing = scope.filter((scoped) => !this.#judged.peek(keyOf(scoped)))
    const judge = (clusters: ReadScope) => this.#judge(clusters, rules)
    const judging = missing.length > 0 ? this.#turns.run(() => judge(missing)) : undefined
    const waiting = scope.map(async (scoped): Promise<readonly [string, Judged]> => {
      const judged = await this.#judged.get(keyOf(scoped), async () => {
        const found = await (judging ?? judge([scoped]))
        return found.get(scoped.name) ?? NOTHING_SEEN
      })
      return [scoped.name, seenBy(scoped, judged)]
    })
    return new Map(await Promise.all(waiting))
  }

  async #judge(clusters: ReadScope, rules: JudgedRules): Promise<ReadonlyMap<string, Judged>> {
    const { clock, wishes, log } = this.#parts
    const { store } = await openReadView(this.#parts.store, 'latest')
    const source = await storeSource({
      ...{ store, clock, log, wishesOf: await wishes() },
      maxStalenessMilliseconds: MAX_STALENESS,
      ...rules,
    })
    const registered = new Set(source.names)
    const targets = source.targets(
      clusters.flatMap(({ name }) => (registered.has(name) ? [{ context: name }] : [])),
    )
    const judged = new Map<string, Judged>()
    for (const target of targets) {
      judged.set(target.context, await judgedNow(target, rules, log))
      // Other requests get their turn between two clusters.
      await nextTurn()
    }
    return judged
  }
}

const NOTHING_SEEN: Judged = { found: 'connecting to the cluster', observedAt: undefined }

async function judgedNow(target: Target, rules: JudgedRules, log: Logger): Promise<Judged> {
  try {
    const observation = await target.observe(new AbortController().signal)
    return { found: judge(observation, rules), observedAt: observation.now }
  } catch (error) {
    // That a mirror is not there or not in step is no failure: it is the answer.
    if (!(error instanceof Unreachable)) {
      log.error({ err: error, cluster: target.context }, 'a cluster cannot be judged')
    }
    return { found: reasonOf(error), observedAt: undefined }
  }
}

/** Within some namespaces: as a sweep of namespaces is, without what only whole clusters have. */
function seenBy({ namespaces }: ScopedCluster, judged: Judged): Judged {
  const { found } = judged
  if (namespaces === 'every-namespace' || typeof found === 'string') return judged
  const blindSpots = [...found.blindSpots].filter((one) => !sweptType(one).wholeClusterOnly)
  const findings = found.findings.filter(({ namespace }) => namespaces.includes(namespace))
  return { ...judged, found: { findings, blindSpots: new Set(blindSpots) } }
}
