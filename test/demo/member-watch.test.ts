import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { MemberServer } from '../../src/demo/member-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'
import { readWatch } from '../support/watch-reader.ts'

const WIDGETS = { group: 'widgets.example.com', version: 'v1alpha1', resource: 'widgets' }
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const VERBS = ['get', 'list', 'watch']
const RESOURCES = [
  {
    ...WIDGETS,
    kind: 'Widget',
    singularName: 'widget',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: VERBS,
    custom: true,
  },
  {
    ...CONFIG_MAPS,
    kind: 'ConfigMap',
    singularName: 'configmap',
    shortNames: ['cm'],
    categories: [],
    namespaced: true,
    verbs: VERBS,
  },
]

interface Recorded {
  readonly what: string
  readonly request: { readonly path: string; readonly headers: Readonly<Record<string, string>> }
  readonly status: number
  readonly lines: readonly string[]
}

const recordings = JSON.parse(
  readFileSync(join(import.meta.dirname, '../recorded/member/watches.json'), 'utf8'),
) as Recorded[]

/** The revision at which each recording's history starts. */
const FLOOR = 414n
const W1 = 419

let member: MemberServer
afterEach(async () => await member.stop())

/** `"object":{…}}` of a line, as it stands. */
const objectText = (line: string) => line.slice(line.indexOf('"object":') + 9, -1)
const parsed = (line: string) =>
  JSON.parse(line) as {
    type: string
    object: { metadata: { name: string; resourceVersion: string; labels?: { a?: string } } }
  }

/** Lets time pass at other types' expense until the next change gets this revision. */
function nextRevisionIs(revision: number): void {
  while (Number(member.resourceVersion) < revision - 1) {
    member.put(CONFIG_MAPS, { metadata: { name: 'filler', namespace: 'shop' } })
  }
}

/** Does what led to this line of a recording. */
function happen(line: string, whole: string): void {
  const { type, object } = parsed(line)
  const { name, resourceVersion, labels } = object.metadata
  nextRevisionIs(Number(resourceVersion))
  if (type !== 'DELETED') member.put(WIDGETS, whole)
  // An object that leaves a selection is no deletion, but looks like one to its watcher.
  else if (labels?.a === 'moved') member.put(WIDGETS, whole.replace('"moved"', '"other"'))
  else member.remove(WIDGETS, 'shop', name)
}

const w1 = objectText(recordings[0]!.lines[0]!)

describe('watches answer as recorded', () => {
  const replayed = recordings.filter(
    ({ what }) => !what.startsWith('as Table') && what !== 'resourceVersion from the future',
  )

  test.each(replayed.map((recording) => [recording.what, recording] as const))(
    '%s',
    async (_, recording) => {
      const clock = new ManualClock()
      member = new MemberServer({
        version: 'v1.36.2',
        resources: RESOURCES,
        firstRevision: FLOOR,
        clock,
        bookmarkSeconds: 60,
      })
      await member.start()
      nextRevisionIs(W1)
      member.put(WIDGETS, w1)
      const changes = recording.lines.filter(
        (line) =>
          /^\{"type":"(ADDED|MODIFIED|DELETED)"/.test(line) && !line.includes('"name":"w1"'),
      )
      const whole = (line: string) =>
        line.includes('PartialObjectMetadata') ? partialAsWidget(line) : objectText(line)
      const fromList = recording.request.path.includes('resourceVersion=460')
      const before = fromList ? changes.slice(0, 6) : []
      for (const line of before) happen(line, whole(line))
      const ended = recording.lines.find((line) => line.includes('initial-events-end'))
      if (ended) nextRevisionIs(Number(parsed(ended).object.metadata.resourceVersion) + 1)

      const reader = await readWatch(member.url + recording.request.path, recording.request.headers)
      expect(reader.status).toBe(recording.status)
      if (recording.status === 200) {
        await until(() => member.watches.size > 0 || reader.state() === 'ended')
      }
      for (const line of changes.slice(before.length)) happen(line, whole(line))
      const last = recording.lines.at(-1)
      await clock.advance(3000)
      await reader.waitForEnd()

      const exact = !recording.request.headers.Accept
      const bookmarked = last?.includes('BOOKMARK') && last !== ended
      const lines = bookmarked ? reader.lines : withoutTimedBookmarks(reader.lines)
      if (exact) expect(lines).toEqual(recording.lines)
      else expect(lines.map(parsed)).toEqual(recording.lines.map(parsed))
    },
  )

  /** Whether one comes before a watch ends is a matter of luck on a real server. */
  function withoutTimedBookmarks(lines: readonly string[]): readonly string[] {
    return lines.filter(
      (line) => !line.includes('"BOOKMARK"') || line.includes('initial-events-end'),
    )
  }

  function partialAsWidget(line: string): string {
    const { metadata } = parsed(line).object
    return JSON.stringify({ apiVersion: 'widgets.example.com/v1alpha1', kind: 'Widget', metadata })
  }
})

describe('while a watch is open', () => {
  const started = async (options: { bookmarkSeconds?: number } = {}) => {
    const clock = new ManualClock()
    member = new MemberServer({
      version: 'v1.36.2',
      resources: RESOURCES,
      firstRevision: FLOOR,
      clock,
      ...options,
    })
    await member.start()
    return clock
  }
  const path = '/api/v1/configmaps?watch=true&allowWatchBookmarks=true&timeoutSeconds=290'

  test('bookmarks come each minute, before the end, and carry the newest revision of all types', async () => {
    const clock = await started()
    const reader = await readWatch(`${member.url}${path}&resourceVersion=${member.resourceVersion}`)
    await until(() => member.watches.size === 1)
    member.put(WIDGETS, w1)
    await clock.advance(300_000)
    await reader.waitForEnd()
    expect(reader.state()).toBe('ended')
    // At 60, 120, 180, 240, and two seconds before the end.
    expect(reader.lines.map((line) => parsed(line).type)).toEqual(Array(5).fill('BOOKMARK'))
    expect(new Set(reader.lines).size).toBe(1)
    expect(reader.lines[0]).toBe(
      '{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"415"}}}',
    )
  })

  test('a watch that did not ask gets none', async () => {
    const clock = await started()
    const reader = await readWatch(
      `${member.url}/api/v1/configmaps?watch=1&timeoutSeconds=300&resourceVersion=414`,
    )
    await until(() => member.watches.size === 1)
    await clock.advance(300_000)
    await reader.waitForEnd()
    expect(reader.lines).toEqual([])
  })

  test('built-in objects carry kind and apiVersion in events, though not in lists', async () => {
    await started()
    member.put(CONFIG_MAPS, '{"metadata":{"name":"a","namespace":"shop"},"data":{"n":"1"}}')
    const reader = await readWatch(`${member.url}/api/v1/configmaps?watch=true`)
    await reader.waitForLines(1)
    expect(JSON.parse(reader.lines[0]!)).toMatchObject({
      type: 'ADDED',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } },
    })
    reader.close()
  })

  test('a client that goes away leaves no watch behind', async () => {
    await started()
    const reader = await readWatch(`${member.url}/api/v1/configmaps?watch=true`)
    await until(() => member.watches.size === 1)
    reader.close()
    await until(() => member.watches.size === 0)
  })

  test('after a compaction, what is older gets 410 and what is not goes on', async () => {
    await started()
    member.put(CONFIG_MAPS, { metadata: { name: 'a', namespace: 'shop' } })
    member.compact()
    const [old, fresh] = await Promise.all([
      readWatch(`${member.url}/api/v1/configmaps?watch=true&resourceVersion=414`),
      readWatch(`${member.url}/api/v1/configmaps?watch=true&resourceVersion=415`),
    ])
    await old.waitForEnd()
    expect(JSON.parse(old.lines[0]!)).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired' },
    })
    member.put(CONFIG_MAPS, { metadata: { name: 'b', namespace: 'shop' } })
    await fresh.waitForLines(1)
    expect(parsed(fresh.lines[0]!).object.metadata.name).toBe('b')
    fresh.close()
  })

  test('a revision from the future is waited for in silence', async () => {
    await started()
    const reader = await readWatch(`${member.url}/api/v1/configmaps?watch=true&resourceVersion=416`)
    await until(() => member.watches.size === 1)
    for (const name of ['a', 'b', 'c']) {
      member.put(CONFIG_MAPS, { metadata: { name, namespace: 'shop' } })
    }
    await reader.waitForLines(1)
    expect(reader.lines.map((line) => parsed(line).object.metadata.name)).toEqual(['c'])
    reader.close()
  })
})
