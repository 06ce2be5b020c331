import { expect, test } from 'vitest'
import { jsonPatch } from '../../src/registration/json-patch.ts'

test('copies that double what they copy are refused before they fill the memory', () => {
  const patch = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/b${i}` }))
  const doubling = () => jsonPatch({ a: { text: 'x'.repeat(1000) } }, patch)
  expect(doubling).toThrow(
    /the accumulated size increase of copy is \d+, exceeding the limit 3145728/,
  )
  expect(doubling).toThrow(expect.objectContaining({ reason: 'RequestEntityTooLarge' }))
})

test('small copies are made, large integers included', () => {
  expect(
    jsonPatch({ a: 12345678901234567890n as never }, [{ op: 'copy', from: '/a', path: '/b' }]),
  ).toEqual({
    a: 12345678901234567890n,
    b: 12345678901234567890n,
  })
})
