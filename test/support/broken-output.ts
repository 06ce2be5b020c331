/** Outputs of a member server that pass a body on in bad ways. */
import type { Output } from '../../src/demo/member/reply.ts'

/** Passes bytes on through `change`, which writes what it likes. */
export function brokenOutput(
  output: Output,
  change: (bytes: Buffer, write: (bytes: Buffer) => void) => void,
): Output {
  return {
    response: output.response,
    write: (bytes) => change(bytes, (changed) => output.write(changed)),
    end: () => output.end(),
  }
}

/** Passes so many bytes on, then breaks the connection. A body that is shorter ends as it would. */
export function truncatedOutput(output: Output, bytes: number): Output {
  let left = bytes
  return {
    response: output.response,
    write: (chunk) => {
      if (left <= 0) return
      output.write(chunk.subarray(0, left))
      left -= chunk.length
      // Let what was written reach the client before the connection goes.
      if (left <= 0) setTimeout(() => output.response.destroy(), 20)
    },
    end: () => {
      if (left > 0) output.end()
    },
  }
}

export interface Gate {
  open: boolean
}

/** Drops everything, the end included, while the gate is shut. */
export function gatedOutput(output: Output, gate: Gate): Output {
  return {
    response: output.response,
    write: (bytes) => {
      if (gate.open) output.write(bytes)
    },
    end: () => {
      if (gate.open) output.end()
    },
  }
}

/** Cuts bodies into chunks, with a pause after each so that each travels alone. */
export function pacedOutput(
  output: Output,
  pace: { cut: (position: number, byte: number) => boolean; milliseconds: number },
): Output {
  let position = 0
  let queue = Promise.resolve()
  output.response.socket?.setNoDelay(true)
  const later = (action: () => void) => {
    queue = queue.then(async () => {
      if (!output.response.destroyed) action()
      await new Promise((resolve) => setTimeout(resolve, pace.milliseconds))
    })
  }
  return {
    response: output.response,
    write: (bytes) => {
      let start = 0
      for (let i = 0; i < bytes.length; i++, position++) {
        if (position === 0 || i === start || !pace.cut(position, bytes[i]!)) continue
        const piece = bytes.subarray(start, i)
        start = i
        later(() => output.write(piece))
      }
      const rest = bytes.subarray(start)
      later(() => output.write(rest))
    },
    end: () => later(() => output.end()),
  }
}
