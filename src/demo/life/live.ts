/** Plays the life script on the members: every second, what has changed is put or removed. */
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import type { MemberServer } from '../member-server.ts'
import type { Placed, Setting } from '../placed.ts'
import type { Life } from './cycle.ts'

const TICK_MILLISECONDS = 1000

export interface LivingMember {
  readonly server: MemberServer
  readonly setting: Setting
  readonly lives: readonly Life[]
}

/** Brings members to what the script has at this time. Ticks that were slept through are skipped. */
export class LifePlayer {
  readonly #members: ReadonlyArray<LivingMember & { readonly applied: Map<string, Applied> }>

  constructor(members: readonly LivingMember[]) {
    this.#members = members.map((member) => ({ ...member, applied: new Map() }))
  }

  /** `seconds` after the start. */
  advanceTo(seconds: number): void {
    for (const { server, setting, lives, applied } of this.#members) {
      const wanted = lives.flatMap((life) => life(setting, seconds))
      const keys = new Set(wanted.map(keyOf))
      for (const placed of wanted) {
        const text = JSON.stringify(placed.object)
        if (applied.get(keyOf(placed))?.text === text) continue
        server.put(placed.of, text)
        applied.set(keyOf(placed), { placed, text })
      }
      for (const [key, { placed }] of applied) {
        if (keys.has(key)) continue
        const { namespace = '', name = '' } = placed.object.metadata ?? {}
        server.remove(placed.of, namespace, name)
        applied.delete(key)
      }
    }
  }
}

interface Applied {
  readonly placed: Placed
  readonly text: string
}

function keyOf({ of, object }: Placed): string {
  return `${of.group}/${of.resource}/${object.metadata?.namespace ?? ''}/${object.metadata?.name}`
}

/** Plays until `signal` says stop; resolves then. */
export async function live(
  player: LifePlayer,
  on: {
    readonly clock: Clock
    readonly start: number
    readonly signal: AbortSignal
    readonly log: Logger
  },
): Promise<void> {
  while (!on.signal.aborted) {
    try {
      player.advanceTo(Math.floor((on.clock.now() - on.start) / 1000))
    } catch (error) {
      on.log.error({ err: error }, 'the demo’s life script failed; it goes on')
    }
    try {
      await on.clock.sleep(TICK_MILLISECONDS, on.signal)
    } catch {
      return // stopped while asleep
    }
  }
}
