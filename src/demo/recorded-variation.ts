/**
 * A recorded object as a simulated cluster has it: own uids, own node names, and times that fit
 * a cluster of its age. Only these spots of the text change; everything else stays to the byte.
 */
import { qualifiedResource } from '../kube/group-resource.ts'
import { uidFrom } from './member-server.ts'
import { DAY_SECONDS, HOUR_SECONDS, type Setting } from './placed.ts'
import type { RecordedObject } from './recorded.ts'

/** When the recording was made. */
const RECORDED_AT = Date.parse('2026-12-01T03:24:05Z')

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
/** Times of the recording and the days before; older ones mean something else. */
const RECENT = /"(2026-1[12]-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"/g
const BIRTH = /"(creationTimestamp|time|deletionTimestamp)":"(2026-1[12]-\d\dT\d\d:\d\d:\d\dZ)"/g
const NODE = /"node-([a-z])"/g

export function varied(
  setting: Setting & { readonly ageDays: number },
  { of, text }: RecordedObject,
): Buffer {
  const original = text.toString()
  const age = ageSeconds(setting, `${qualifiedResource(of)}/${original.slice(0, 200)}`, of.resource)
  const moved = (time: string, older: number) => {
    const at = Date.parse(time) - RECORDED_AT + setting.start - older * 1000
    // A MicroTime always has its fraction, and clients refuse one without.
    const fraction = /\.\d+/.exec(time)?.[0] ?? ''
    return `${new Date(at).toISOString().slice(0, 19)}${fraction}Z`
  }
  const marked = original.replace(BIRTH, (_, key, time) => `"${key}":"\u0001${moved(time, age)}"`)
  return Buffer.from(
    marked
      // What happened lately (a restart, an event) stays as recent as it was recorded.
      .replace(RECENT, (_, time) => `"${moved(time, 0)}"`)
      .replaceAll('\u0001', '')
      .replace(UUID, (uid) => uidFrom(`${setting.seed}/${setting.cluster}/${uid}`))
      .replace(NODE, (_, letter) => `"${setting.cluster}-node-${letter}"`)
      .replaceAll('"v1.31.4"', `"${setting.version}"`),
  )
}

/** Objects that come with a cluster are as old as it; people's are younger; events are minutes old. */
function ageSeconds(
  setting: Setting & { readonly ageDays: number },
  text: string,
  resource: string,
): number {
  const draw = Number.parseInt(
    uidFrom(`${setting.seed}/${setting.cluster}/${text}`).slice(0, 8),
    16,
  )
  const share = draw / 0xffffffff
  if (resource === 'events') return share * 0.5 * HOUR_SECONDS
  if (/"name":"(system:|kube-|default")/.test(text)) return setting.ageDays * DAY_SECONDS
  return HOUR_SECONDS + share * (Math.min(setting.ageDays, 120) * DAY_SECONDS - HOUR_SECONDS)
}
