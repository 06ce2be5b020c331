/** The open objects and lists of a scan, outermost first; frames are used again. */
import type { Hash64 } from '../kube/search-token.ts'
import type { MemberRange } from './byte-edits.ts'

/** What an object means to the scan; `status` is that field and all below it. */
export type Role =
  | 'root'
  | 'metadata'
  | 'labels'
  | 'annotations'
  | 'data'
  | 'stringData'
  | 'status'
  | 'plain'

interface Opened {
  role: Role
  list: boolean
  /** Under a key that a later equal key overrides: nothing is derived from it. */
  muted: boolean
  /** Of its opening brace or bracket. */
  start: number
}

export interface Frame extends Opened {
  /** Nothing was read of it yet. */
  empty: boolean
  /** Of the object, or of any element of the list. */
  readonly path: Hash64
  /** Filled only where members may be cut. */
  readonly members: MemberRange[]
}

export class FrameStack {
  readonly #frames: Frame[] = []
  #depth = 0

  get depth(): number {
    return this.#depth
  }

  /** The innermost; there must be one. */
  get top(): Frame {
    return this.#frames[this.#depth - 1]!
  }

  push(opened: Opened): Frame {
    let frame = this.#frames[this.#depth++]
    if (!frame) {
      frame = { ...opened, empty: true, path: { hi: 0, lo: 0 }, members: [] }
      this.#frames.push(frame)
    }
    frame.role = opened.role
    frame.list = opened.list
    frame.muted = opened.muted
    frame.start = opened.start
    frame.empty = true
    frame.members.length = 0
    return frame
  }

  pop(): void {
    this.#depth--
  }

  clear(): void {
    this.#depth = 0
  }
}
