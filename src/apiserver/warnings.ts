/**
 * What a reader must know beside the rows: clusters that are not in step, objects of another version.
 *
 * kubectl prints each distinct text once for every page, so a text is the same on every page: it
 * holds absolute times, and is made from what was asked, not from the rows of the page.
 */
import { timestamp } from '../kube/timestamp.ts'
import { SYNCER_GRACE_MILLISECONDS } from '../store/catalog.ts'
import type { CatalogCluster, ServedResource } from './catalog.ts'
import { namedClusters } from './named-clusters.ts'

/** Five clusters in each sentence, and all else, stay under the 4 KB that proxies let through. */
const REASON_MOST_CHARACTERS = 200
const NAME_MOST_CHARACTERS = 120

interface Staleness {
  readonly reason: string
  /** When it was last in step; undefined: never. Nobody may have noted it before a restart. */
  readonly since?: Date | 'unknown' | null | undefined
}

/** Of the types that are asked for: a sentence, or none. */
export function staleWarning(
  served: readonly ServedResource[],
  nowMilliseconds: number,
): readonly string[] {
  const named = served.flatMap((entry) =>
    saidOf(entry.cluster, stalenessOf(entry, nowMilliseconds)),
  )
  if (named.length === 0) return []
  return [`not in step, and shown as last seen: ${namedClusters(named)}`]
}

function saidOf({ name }: CatalogCluster, stale: Staleness | undefined): readonly string[] {
  if (!stale) return []
  const reason = shorten(stale.reason, REASON_MOST_CHARACTERS)
  const said = [reason, ...lastInStep(stale.since)].join('; ')
  return [`${shorten(name, NAME_MOST_CHARACTERS)} (${said})`]
}

/** Of clusters that something should be mirrored from: a sentence, or none. */
export function unseenWarning(
  clusters: readonly CatalogCluster[],
  nowMilliseconds: number,
): readonly string[] {
  const named = clusters
    .filter(({ resources }) => resources.length === 0)
    .flatMap((cluster) => saidOf(cluster, clusterStaleness(cluster, nowMilliseconds)))
  if (named.length === 0) return []
  return [`nothing is mirrored so far from ${namedClusters(named)}`]
}

/** Of names that were asked for and none of these has: a sentence, or none. */
export function unknownClusters(
  names: readonly string[],
  clusters: ReadonlyArray<{ readonly name: string }>,
): readonly string[] {
  const known = new Set(clusters.map(({ name }) => name))
  const unknown = [...new Set(names)].filter((name) => !known.has(name))
  if (unknown.length === 0) return []
  const named = namedClusters(unknown.map((name) => shorten(name, NAME_MOST_CHARACTERS)))
  return [`there is no cluster ${named}`]
}

/** For what is worked out from whole clusters: a sentence, or none. */
export function staleClusters(
  clusters: readonly CatalogCluster[],
  nowMilliseconds: number,
): readonly string[] {
  const named = clusters.flatMap((cluster) =>
    saidOf(cluster, clusterStaleness(cluster, nowMilliseconds)),
  )
  return named.length === 0 ? [] : [`not in step are the mirrors of ${namedClusters(named)}`]
}

/** The cluster as a whole comes first, then its syncer, then this one type. */
function stalenessOf(
  { cluster, resource }: ServedResource,
  nowMilliseconds: number,
): Staleness | undefined {
  const ofCluster = clusterStaleness(cluster, nowMilliseconds)
  if (ofCluster) return ofCluster
  if (!resource.position) return { reason: whyNotListed(resource) }
  if (resource.status !== 'Error' && resource.status !== 'Stop') return undefined
  return { reason: sentence(resource), since: resource.changedAt }
}

function clusterStaleness(
  { staleReason, staleSince, syncerSeenAt, resources }: CatalogCluster,
  nowMilliseconds: number,
): Staleness | undefined {
  if (typeof staleReason === 'string') {
    const wasInStep = resources.some(({ position }) => position !== undefined)
    return { reason: staleReason, since: staleSince ?? (wasInStep ? 'unknown' : null) }
  }
  const goneAt = syncerSeenAt ? syncerSeenAt.getTime() + SYNCER_GRACE_MILLISECONDS : 0
  if (goneAt >= nowMilliseconds) return undefined
  return { reason: 'no syncer is at work', since: syncerSeenAt }
}

function whyNotListed(resource: ServedResource['resource']): string {
  return resource.status === 'Error' ? sentence(resource) : 'the first list is not complete'
}

function sentence({ reason, message }: ServedResource['resource']): string {
  // Many messages begin with the reason, for whoever sees them alone.
  const texts = message.startsWith(`${reason}: `) ? [message] : [reason, message]
  return texts.filter((text) => text !== '').join(': ') || 'it is not synced'
}

function lastInStep(since: Staleness['since']): readonly string[] {
  if (since === 'unknown') return []
  if (!since) return ['never in step']
  return [`last in step ${timestamp(since.getTime())}`]
}

/** Of full objects: whoever asked for one version must not take another for it. */
export function mixedVersionsWarning(
  served: readonly ServedResource[],
  apiVersion: string,
): readonly string[] {
  const other = served.filter(({ resource }) => resource.apiVersion !== apiVersion)
  if (other.length === 0) return []
  const named = other.map(({ cluster: { name }, resource }) => {
    const version = shorten(resource.apiVersion, NAME_MOST_CHARACTERS)
    return `${shorten(name, NAME_MOST_CHARACTERS)} (${version})`
  })
  const hint = 'strictVersion=true leaves them out'
  return [`not in version ${apiVersion} are the objects of ${namedClusters(named)}; ${hint}`]
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 3)}...`
}
