/**
 * Hears of API groups that come and go behind the member's aggregator, so that discovery is asked
 * again at once. Without the right to see them, discovery is asked every half minute all the same.
 */
import { type Entry, FollowedEntries, type FollowedType, fieldsOf } from './followed-entries.ts'

export interface ApiServicesOptions extends FollowedType {
  /** Another set of groups, or one that answers again. */
  readonly changed: () => void
}

export function followApiServices(options: ApiServicesOptions): FollowedEntries<Entry> {
  return new FollowedEntries({
    ...options,
    read: readApiService,
    // What there is at first, discovery has just told.
    changed: (isFirst) => {
      if (!isFirst) options.changed()
    },
  })
}

/** Whether it is available. */
function readApiService(object: unknown): Entry | undefined {
  const { metadata, status } = fieldsOf(object)
  const { name } = fieldsOf(metadata)
  if (typeof name !== 'string') return undefined
  const { conditions } = fieldsOf(status)
  const available = (Array.isArray(conditions) ? conditions : [])
    .map(fieldsOf)
    .find(({ type }) => type === 'Available')
  return { name, text: String(available?.status ?? '') }
}
