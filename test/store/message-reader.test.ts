/** However the network cuts the stream, the messages are the same. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageReader } from '../../src/store/message-reader.ts'

const message = fc.record({
  type: fc.integer({ min: 1, max: 255 }),
  body: fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc.uint8Array({ minLength: 200, maxLength: 300 }),
  ),
})

function frame({ type, body }: { type: number; body: Uint8Array }): Buffer {
  const out = Buffer.alloc(5 + body.length)
  out[0] = type
  out.writeUInt32BE(4 + body.length, 1)
  out.set(body, 5)
  return out
}

test('messages come whole and in order, and what follows the last is given back', () => {
  const stream = fc.record({
    messages: fc.array(message, { minLength: 1, maxLength: 20 }),
    rest: fc.uint8Array({ maxLength: 20 }),
    cuts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
  })
  fc.assert(
    fc.property(stream, ({ messages, rest, cuts }) => {
      const frames = messages.map(frame)
      const bytes = Buffer.concat([...frames, rest])
      const got: Buffer[] = []
      const left: Buffer[] = []
      let isOver = false
      const reader = new MessageReader((type, whole) => {
        expect(type).toBe(whole[0])
        got.push(Buffer.from(whole))
        isOver = got.length === frames.length
        return isOver
      })
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const chunk = bytes.subarray(at, at + cuts[i % cuts.length]!)
        at += chunk.length
        const over = isOver ? chunk : reader.push(chunk)
        if (over) left.push(over)
      }
      expect(got).toEqual(frames)
      expect(Buffer.concat(left)).toEqual(Buffer.from(rest))
    }),
  )
})
