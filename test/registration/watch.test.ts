/** Watches over HTTP, event by event, as test data of a real API server shows them. */
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  CLUSTERS,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
} from './registration-server.ts'

let api: RegistrationServer
let origin = ''
beforeAll(async () => {
  api = await registrationServer()
  await api.server.listen({ port: 0, host: '127.0.0.1' })
  origin = `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}`
  await api.ask('POST', CLUSTERS, { body: pediaCluster('there', {}, { labels: { a: 'b' } }) })
})
afterAll(() => api.stop())

interface Event {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: events carry objects of every form
  readonly object: any
}

interface Watch {
  readonly status: number
  /** The next events, as many as asked for. */
  next(count: number): Promise<readonly Event[]>
  /** All that are left until the server ends it. */
  rest(): Promise<readonly Event[]>
  stop(): void
}

async function watch(query: string, accept = 'application/json'): Promise<Watch> {
  const stopping = new AbortController()
  const answer = await fetch(`${origin}${CLUSTERS}?watch=true&${query}`, {
    headers: { accept },
    signal: stopping.signal,
  })
  // Read from at once: fetch cancels a body that nobody holds when its Response is collected.
  const lines = linesOf(answer.body!.pipeThrough(new TextDecoderStream()))
  const read = async () => {
    const { value, done } = await lines.next()
    return done ? undefined : (JSON.parse(value) as Event)
  }
  return {
    status: answer.status,
    async next(count) {
      const events: Event[] = []
      while (events.length < count) events.push((await read())!)
      return events
    },
    async rest() {
      const events: Event[] = []
      for (let event = await read(); event; event = await read()) events.push(event)
      return events
    },
    stop: () => stopping.abort(),
  }
}

async function* linesOf(body: ReadableStream<string>): AsyncGenerator<string, undefined> {
  let text = ''
  for await (const chunk of body) {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop()!
    yield* lines
  }
  return undefined
}

const seen = (events: readonly Event[]) =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`.trim())
const revision = async () => (await api.ask('GET', CLUSTERS)).json.metadata.resourceVersion
const create = (name: string, labels: object = {}) =>
  api.ask('POST', CLUSTERS, { body: pediaCluster(name, {}, { labels }) })
const relabel = (name: string, labels: object) =>
  api.ask('PATCH', `${CLUSTERS}/${name}`, { body: { metadata: { labels } }, type: MERGE })
const remove = (name: string) => api.ask('DELETE', `${CLUSTERS}/${name}`)

/** One object comes, changes and goes. */
async function life(name: string, labels: object = {}) {
  await create(name, labels)
  await relabel(name, { ...labels, changed: 'yes' })
  await remove(name)
}

for (const query of ['', 'resourceVersion=0&', 'resourceVersion=0&limit=1&']) {
  test(`${query || 'no resourceVersion'}: first the state, then what happens`, async () => {
    const stream = await watch(query)
    expect(seen(await stream.next(1))).toEqual(['ADDED there'])
    await life('seen')
    const events = await stream.next(3)
    expect(seen(events)).toEqual(['ADDED seen', 'MODIFIED seen', 'DELETED seen'])
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).toEqual([versions[0], versions[0]! + 1, versions[0]! + 2])
    stream.stop()
  })
}

test('from the resourceVersion of a list: only what happened since', async () => {
  const from = await revision()
  await life('since')
  const stream = await watch(`resourceVersion=${from}&timeoutSeconds=1`)
  expect(seen(await stream.rest())).toEqual(['ADDED since', 'MODIFIED since', 'DELETED since'])
})

test('a streamed list ends with a marked bookmark', async () => {
  const stream = await watch(
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  )
  const [added, bookmark] = await stream.next(2)
  expect(seen([added!])).toEqual(['ADDED there'])
  expect(bookmark).toEqual({
    type: 'BOOKMARK',
    object: {
      apiVersion: 'cluster.clusterpedia.io/v1alpha2',
      kind: 'PediaCluster',
      metadata: {
        annotations: { 'k8s.io/initial-events-end': 'true' },
        resourceVersion: await revision(),
      },
    },
  })
  stream.stop()
})

test('objects enter and leave a selection', async () => {
  const from = await revision()
  const stream = await watch(`resourceVersion=${from}&labelSelector=a%3Dmoved`)
  await create('mv', { a: 'out' })
  await relabel('mv', { a: 'moved' })
  await relabel('mv', { a: 'moved', more: 'yes' })
  await relabel('mv', { a: 'gone' })
  await remove('mv')
  await create('mv2', { a: 'moved' })
  const events = await stream.next(4)
  expect(seen(events)).toEqual(['ADDED mv', 'MODIFIED mv', 'DELETED mv', 'ADDED mv2'])
  // The last state that was selected, with the revision at which it left.
  expect(events[2]!.object.metadata.labels).toEqual({ a: 'moved', more: 'yes' })
  const [, modified, deleted] = events.map(({ object }) => Number(object.metadata.resourceVersion))
  expect(deleted).toBe(modified! + 1)
  stream.stop()
  await remove('mv2')
})

test('one name', async () => {
  const stream = await watch('fieldSelector=metadata.name%3Donly')
  await life('other')
  await life('only')
  expect(seen(await stream.next(3))).toEqual(['ADDED only', 'MODIFIED only', 'DELETED only'])
  stream.stop()
})

test('as a Table: the columns come with the first event only', async () => {
  const stream = await watch('includeObject=None', 'application/json;as=Table;v=v1;g=meta.k8s.io')
  const [first] = await stream.next(1)
  await life('row')
  const later = await stream.next(3)
  expect(first!.object.columnDefinitions[0].name).toBe('Name')
  expect(first!.object.rows).toEqual([
    {
      cells: ['there', null, null, null, null, null, null, null],
      object: null,
    },
  ])
  expect(later.map(({ object }) => object.columnDefinitions)).toEqual([null, null, null])
  expect(later.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
  stream.stop()
})

test('as metadata', async () => {
  const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
  const stream = await watch('', accept)
  const [event] = await stream.next(1)
  expect(Object.keys(event!.object)).toEqual(['kind', 'apiVersion', 'metadata'])
  stream.stop()
})

test('a resourceVersion from the future: nothing happens', async () => {
  const stream = await watch('resourceVersion=99999999&timeoutSeconds=1')
  await life('past')
  expect([stream.status, await stream.rest()]).toEqual([200, []])
})

test('a resourceVersion beyond all that can be: nothing happens', async () => {
  const stream = await watch('resourceVersion=18446744073709551615&timeoutSeconds=1')
  expect([stream.status, await stream.rest()]).toEqual([200, []])
})

test('a time limit beyond what a timer can count: the watch stays open', async () => {
  const from = await revision()
  const stream = await watch(`resourceVersion=${from}&timeoutSeconds=99999999999`)
  await life('longest')
  expect(seen(await stream.next(1))).toEqual(['ADDED longest'])
  stream.stop()
})

test('a resourceVersion that was cleared away: 410, as an event', async () => {
  const from = await revision()
  await life('cleared')
  await api.database.store.pool.query('update registration_revision set floor = latest')
  const stream = await watch(`resourceVersion=${from}`)
  const floor = await revision()
  expect(await stream.rest()).toEqual([
    {
      type: 'ERROR',
      object: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `too old resource version: ${from} (${floor})`,
        reason: 'Expired',
        code: 410,
      },
    },
  ])
})

test('many writers at once: every watcher sees every write once, in order', async () => {
  const from = await revision()
  const streams = await Promise.all([1, 2, 3].map(() => watch(`resourceVersion=${from}`)))
  const writes = Array.from({ length: 30 }, (_, index) => create(`many-${index}`))
  await Promise.all(writes)
  for (const stream of streams) {
    const events = await stream.next(30)
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).toEqual(Array.from({ length: 30 }, (_, index) => Number(from) + 1 + index))
    stream.stop()
  }
})

test('refused before it starts', async () => {
  for (const [query, status] of [
    ['resourceVersion=abc', 400],
    ['sendInitialEvents=true', 422],
    ['labelSelector=-bad', 400],
  ] as const) {
    expect((await watch(query)).status).toBe(status)
  }
})

test('a server that stops ends its watches', async () => {
  const other = await registrationServer()
  await other.server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = other.server.server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}${CLUSTERS}?watch=true`)
  const ended = answer.text()
  await other.stop()
  expect(await ended).toBe('')
})
