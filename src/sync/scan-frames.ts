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

export interface Frame {
  role: Role
  list: boolean
  /** Under a key that a later equal key overrides: nothing is derived from it. */
  muted: boolean
  /** Of its opening brace or bracket. */
  start: number
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

  /** What the frame stands for is left to the caller to set. */
  push(start: number): Frame {
    const frame = this.#frames[this.#depth] ?? this.#add()
    this.#depth++
    frame.start = start
    frame.empty = true
    if (frame.members.length > 0) frame.members.length = 0
    return frame
  }

  #add(): Frame {
    const path = { hi: 0, lo: 0 }
    const frame: Frame = {
      role: 'plain',
      list: false,
      muted: false,
      start: 0,
      empty: true,
      path,
      members: [],
    }
    this.#frames.push(frame)
    return frame
  }

  pop(): void {
    this.#depth--
  }

  clear(): void {
    this.#depth = 0
  }
}
