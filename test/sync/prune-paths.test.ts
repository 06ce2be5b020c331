/** Pruned paths: what is cut, and that the rest keeps its bytes. */
import { describe, expect, test } from 'vitest'
import { createPruner, parsePrunePaths } from '../../src/sync/prune-paths.ts'

const pruned = (text: string, paths: readonly string[]) =>
  createPruner(paths.flatMap(parsePrunePaths))(Buffer.from(text)).toString()

describe('what is cut', () => {
  const cases: ReadonlyArray<{ name: string; paths: string[]; from: string; to: string }> = [
    { name: 'nothing, without paths', paths: [], from: '{"a":1}', to: '{"a":1}' },
    {
      name: 'a field',
      paths: ['b'],
      from: '{"a":1, "b":[1,{"b":2}] , "c":3}',
      to: '{"a":1, "c":3}',
    },
    { name: 'the only field', paths: ['a.b'], from: '{"a":{ "b":1 }}', to: '{"a":{ }}' },
    { name: 'the last field', paths: ['b'], from: '{"a":1,"b":"}"}', to: '{"a":1}' },
    {
      name: 'an annotation',
      paths: ["metadata.annotations['a.b/c']"],
      from: '{"metadata":{"annotations":{"a.b/c":"x","d":"y"}}}',
      to: '{"metadata":{"annotations":{"d":"y"}}}',
    },
    {
      name: 'a field of every element',
      paths: ['spec.containers[].env'],
      from: '{"spec":{"containers":[{"name":"a","env":[1]}, {"env":[]}, {"name":"c"}]}}',
      to: '{"spec":{"containers":[{"name":"a"}, {}, {"name":"c"}]}}',
    },
    {
      name: 'several, one inside of another',
      paths: ['a.b', 'a', 'c.d', 'c.e'],
      from: '{"a":{"b":1},"c":{"d":1,"e":2,"f":1.0}}',
      to: '{"c":{"f":1.0}}',
    },
    { name: 'a key that occurs twice', paths: ['b'], from: '{"b":1,"a":0,"b":2}', to: '{"a":0}' },
    { name: 'an escaped key', paths: ['b'], from: '{"\\u0062":1,"a":0}', to: '{"a":0}' },
    {
      name: 'nothing of another shape',
      paths: ['a.b', 'c[].d'],
      from: '{"a":[1],"c":{"d":1}}',
      to: '{"a":[1],"c":{"d":1}}',
    },
    { name: 'nothing of what is no JSON', paths: ['a'], from: '{"a":1', to: '{"a":1' },
  ]
  for (const { name, paths, from, to } of cases) {
    test(name, () => expect(pruned(from, paths)).toBe(to))
  }
})

describe('paths that are refused', () => {
  const cases: ReadonlyArray<readonly [path: string, why: RegExp]> = [
    ['metadata', /is needed/],
    ['metadata.uid', /is needed/],
    ["metadata['name']", /is needed/],
    ['spec.containers[0].env', /an index cannot be pruned/],
    ['spec.containers[]', /the last step of a pruned path is a field/],
    ['spec..a', /./],
    ['', /./],
  ]
  for (const [path, why] of cases) {
    test(JSON.stringify(path), () => expect(() => parsePrunePaths(path)).toThrow(why))
  }
})

describe('several paths in one text', () => {
  const key = (name: string) => ({ key: name })
  test.each([
    ['a.b,c', [[key('a'), key('b')], [key('c')]]],
    [
      "metadata.annotations['x,y'], c",
      [[key('metadata'), key('annotations'), key('x,y')], [key('c')]],
    ],
    ['a["it\\"s,"],b', [[key('a'), key('it"s,')], [key('b')]]],
  ])('%s', (text, paths) => expect(parsePrunePaths(text)).toEqual(paths))

  test.each(['a,,b', 'a,', "a['x,b"])('%s is refused', (text) => {
    expect(() => parsePrunePaths(text)).toThrow()
  })
})
