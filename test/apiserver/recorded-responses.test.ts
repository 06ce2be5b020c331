/** What a real API server answered (recorded, kube-apiserver 1.36), held against our answers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

interface Recorded {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly accept: string | null
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, '../recorded/responses.json'), 'utf8'),
) as readonly Recorded[]

/** Answered otherwise on purpose: a path alone means "exists", and any path may be asked for. */
const OURS_TAKES_MORE = ['fieldSelector=spec.bogus%3D1', 'fieldSelector=status.phase']

let database: TestDatabase
let fleet: FleetServer
let viewer: Reader

beforeAll(async () => {
  database = await testDatabase()
  const one = await FilledCluster.create(database.store, 'dot-01')
  const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
  await one.fill(pods, [{ metadata: metadata('web-0', { namespace: 'shop' }) }])
  const apps = { ...pods, group: 'apps', resource: 'deployments', kind: 'Deployment' }
  await one.fill(apps, [])
  const hidden = await FilledCluster.create(database.store, 'hidden')
  await hidden.fill(pods, [{ metadata: metadata('nope', { namespace: 'hidden' }) }])
  fleet = await fleetServer(database.store)
  viewer = await fleet.viewer([
    { clusters: ['dot-01'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

const SURFACES = ['fleet', 'member'] as const
const ASKED = SURFACES.flatMap((surface) =>
  (['an administrator', 'a viewer'] as const).map((who) => ({ surface, who })),
)

describe.each(ASKED)('under the prefix of the $surface, as $who', ({ surface, who }) => {
  for (const recorded of RECORDED) {
    const { method, path, accept } = recorded
    if (OURS_TAKES_MORE.some((query) => path.endsWith(query))) continue
    test(`${method} ${path} ${accept ?? ''}`, async () => {
      const asking = { method, ...(accept !== null && { accept }) }
      const reader = who === 'a viewer' ? viewer : fleet.admin
      const answer =
        surface === 'fleet'
          ? await reader.ask(path, asking)
          : await reader.askMember('dot-01', path, asking)
      const { status, contentType, text } = answer
      const want = withoutProtobuf(recorded.body)
      expect({ status, contentType }).toEqual({
        status: recorded.status,
        contentType: recorded.contentType,
      })
      // Go writes < and > as escapes, which mean the same.
      expect(answer.json ?? text).toEqual(answer.json ? JSON.parse(want) : want)
      // It indents errors of forming an answer; of these, only those of media types are so here.
      if (status !== 400) expect(text.endsWith('\n')).toBe(want.endsWith('\n'))
    })
  }
})

/** We offer neither protobuf nor, yet, watches. */
function withoutProtobuf(body: string): string {
  return body
    .replace(', application/json;stream=watch', '')
    .replaceAll(/, application\/vnd\.kubernetes\.protobuf(?:;stream=watch)?/g, '')
}

test('the narrow field selectors of a real API server are a part of ours', async () => {
  for (const reader of [fleet.admin, viewer]) {
    const bogus = await reader.ask('/api/v1/pods?fieldSelector=spec.bogus%3D1')
    expect(bogus.json.items).toEqual([])
    const exists = await reader.ask('/api/v1/pods?fieldSelector=metadata.name')
    expect(exists.json.items).toHaveLength(reader === viewer ? 1 : 2)
  }
})
