/** Objects that were deleted and do not go. */
import { type Fields, timeOf } from '../../printers/read-field.ts'
import type { Finding } from '../issue.ts'
import { MINUTE, type Observation } from '../observation.ts'
import { metaOf, placeOf } from '../read-object.ts'

const PATIENCE = 2 * MINUTE

export function terminatingIssues({ lists, now }: Observation): readonly Finding[] {
  return [
    ...stuck('Namespace', lists.namespaces, now),
    ...stuck('Pod', lists.pods, now),
    ...stuck('PersistentVolumeClaim', lists.persistentvolumeclaims, now),
  ]
}

function stuck(kind: string, objects: readonly Fields[] = [], now: number): readonly Finding[] {
  return objects.flatMap((object) => {
    const deletedAt = timeOf(metaOf(object).deletionTimestamp)
    if (deletedAt === undefined || now - deletedAt <= PATIENCE) return []
    const reason = `it was deleted at ${new Date(deletedAt).toISOString()} and is still there`
    return [{ issue: 'StuckTerminating' as const, kind, ...placeOf(object), reason }]
  })
}
