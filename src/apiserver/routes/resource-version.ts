/**
 * `resourceVersion` of a list, held against the fleet's revision.
 *
 * The mirror has one state, the newest. Older ones are asked for as "at least", which it is; a
 * state that is not the newest, asked for exactly, is gone; one that is not reached yet is refused,
 * as kube-apiserver does when its cache lags.
 */
import type { ListOptions } from '../../kube/list-options.ts'
import { resourceVersionTooLarge, resourceVersionTooOld } from '../../kube/status-error.ts'
import type { Freshness } from '../../store/read-view.ts'
import type { ObjectReader, ObjectView } from '../objects.ts'

/** What a read that says this must see: `''` and exact ones all there is, `0` whatever is at hand. */
export function freshnessOf(
  options: Pick<ListOptions, 'resourceVersion' | 'resourceVersionMatch'>,
): Freshness {
  const { resourceVersion, resourceVersionMatch } = options
  if (resourceVersion === undefined || resourceVersionMatch === 'Exact') return 'latest'
  return resourceVersion === 0n ? 'any' : { atLeast: resourceVersion }
}

/** What a list is read from, and the revision that it shows. @throws as {@link checkResourceVersion}. */
export async function viewFor(
  reader: ObjectReader,
  options: Pick<ListOptions, 'resourceVersion' | 'resourceVersionMatch'>,
): Promise<{ readonly objects: ObjectView; readonly resourceVersion: string }> {
  const objects = await reader.view(freshnessOf(options))
  const resourceVersion = await objects.revision()
  checkResourceVersion(options, resourceVersion)
  return { objects, resourceVersion }
}

/**
 * @param revision - the fleet's, a decimal integer.
 * @throws 504 `Timeout` for a version that is not there yet, 410 `Expired` for an exact old one.
 */
export function checkResourceVersion(
  options: Pick<ListOptions, 'resourceVersion' | 'resourceVersionMatch'>,
  revision: string,
): void {
  const { resourceVersion, resourceVersionMatch } = options
  if (resourceVersion === undefined || resourceVersion === 0n) return
  const current = BigInt(revision)
  if (resourceVersion > current) throw resourceVersionTooLarge(resourceVersion, revision)
  if (resourceVersionMatch === 'Exact' && resourceVersion < current) {
    throw resourceVersionTooOld()
  }
}
