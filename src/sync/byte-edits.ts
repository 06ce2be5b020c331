/** Changes to a text of bytes, collected while it is read and made in one copy at the end. */

export interface ByteEdit {
  readonly start: number
  /** Equal to `start` for an insertion. */
  readonly end: number
  readonly by: Buffer
}

/** The bytes with the edits made, in one copy. Edits are sorted and must not overlap. */
export function applyEdits(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  let size = bytes.length
  for (const { start, end, by } of edits) size += by.length - (end - start)
  const out = Buffer.allocUnsafeSlow(size)
  let at = 0
  let from = 0
  for (const { start, end, by } of edits) {
    at += bytes.copy(out, at, from, start)
    at += by.copy(out, at)
    from = end
  }
  bytes.copy(out, at, from)
  return out
}

/** Where the byte at `at` lies after the edits in front of it, counted from `start`. */
export function movedOffset(at: number, start: number, edits: readonly ByteEdit[]): number {
  let offset = at - start
  for (const edit of edits) {
    if (edit.start < start || edit.end > at) continue
    offset += edit.by.length - (edit.end - edit.start)
  }
  return offset
}

/** One member of an object, key included. */
export interface MemberRange {
  readonly start: number
  end: number
  readonly cut: boolean
}

const NOTHING = Buffer.alloc(0)

/**
 * The cuts that leave an object well-formed: each takes the comma that would be left over.
 *
 * @param object - from its opening brace to one past its closing one.
 */
export function cutMembers(
  object: { readonly start: number; readonly end: number },
  members: readonly MemberRange[],
): ByteEdit[] {
  const lastKept = members.findLastIndex((member) => !member.cut)
  const edits: ByteEdit[] = []
  for (const [i, member] of members.entries()) {
    if (i > lastKept) break
    if (member.cut) edits.push({ start: member.start, end: members[i + 1]!.start, by: NOTHING })
  }
  if (lastKept + 1 < members.length) {
    const start = lastKept < 0 ? object.start + 1 : members[lastKept]!.end
    edits.push({ start, end: members.at(-1)!.end, by: NOTHING })
  }
  return edits
}
