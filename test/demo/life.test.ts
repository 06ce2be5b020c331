import { beforeEach, describe, expect, test } from 'vitest'
import { claim } from '../../src/demo/life/claim.ts'
import { crashLoop } from '../../src/demo/life/crash-loop.ts'
import type { Life } from '../../src/demo/life/cycle.ts'
import { LifePlayer } from '../../src/demo/life/live.ts'
import { nodeOutage } from '../../src/demo/life/node-outage.ts'
import { rollout } from '../../src/demo/life/rollout.ts'
import { MemberServer } from '../../src/demo/member-server.ts'
import type { Placed, Setting } from '../../src/demo/placed.ts'
import { builtInResources } from '../../src/demo/recorded.ts'
import type { JsonObject } from '../../src/kube/kube-object.ts'

const SETTING: Setting = {
  cluster: 'dot-09',
  start: Date.parse('2026-12-01T12:00:00Z'),
  version: 'v1.33.1',
  seed: 'test',
}
const outage = nodeOutage('b')

/** Every whole second of four minutes. */
const SECONDS = Array.from({ length: 240 }, (_, second) => second)

/** As a client reads them. */
const ofType = (placed: readonly Placed[], resource: string) =>
  placed
    .filter(({ of }) => of.resource === resource)
    .map(({ object }) => JSON.parse(JSON.stringify(object)))

describe('the rollout', () => {
  test.each([
    { second: 0, updated: 3, image: '2.7.0', sets: [3], pods: 3 },
    { second: 5, updated: 1, image: '2.7.1', sets: [1, 3], pods: 4 },
    { second: 8, updated: 1, image: '2.7.1', sets: [1, 2], pods: 3 },
    { second: 11, updated: 2, image: '2.7.1', sets: [2, 2], pods: 4 },
    { second: 17, updated: 3, image: '2.7.1', sets: [3, 1], pods: 4 },
    { second: 20, updated: 3, image: '2.7.1', sets: [3, 0], pods: 3 },
    { second: 59, updated: 3, image: '2.7.1', sets: [3, 0], pods: 3 },
    { second: 60, updated: 3, image: '2.7.1', sets: [3, 0], pods: 3 },
    { second: 65, updated: 1, image: '2.7.2', sets: [1, 3, 0], pods: 4 },
  ])('at second $second', ({ second, updated, image, sets, pods }) => {
    const state = rollout(SETTING, second)
    const [deployment] = ofType(state, 'deployments')
    expect(deployment.status).toMatchObject({ updatedReplicas: updated, readyReplicas: 3 })
    expect(deployment.spec.template.spec.containers[0].image).toMatch(new RegExp(`${image}$`))
    expect(ofType(state, 'replicasets').map(({ spec }) => spec.replicas)).toEqual(sets)
    expect(ofType(state, 'pods')).toHaveLength(pods)
  })

  test.each(SECONDS)('tells one story at second %i', (second) => {
    const state = rollout(SETTING, second)
    const [deployment] = ofType(state, 'deployments')
    const sets = ofType(state, 'replicasets')
    const pods = ofType(state, 'pods')
    const ready = pods.filter(({ status }) => status.containerStatuses[0].ready)
    expect(pods).toHaveLength(deployment.status.replicas)
    expect(ready).toHaveLength(deployment.status.readyReplicas)
    for (const set of sets) {
      expect(set.metadata.ownerReferences[0].uid).toBe(deployment.metadata.uid)
      const own = pods.filter(
        ({ metadata }) => metadata.ownerReferences[0].uid === set.metadata.uid,
      )
      expect(own).toHaveLength(set.status.replicas)
      expect(
        own.every(
          (pod) =>
            pod.metadata.labels['pod-template-hash'] ===
            set.spec.selector.matchLabels['pod-template-hash'],
        ),
      ).toBe(true)
      expect(own.filter((pod) => ready.includes(pod))).toHaveLength(set.status.readyReplicas ?? 0)
    }
    expect(new Set(pods.map(({ metadata }) => metadata.name)).size).toBe(pods.length)
  })
})

describe('the crash loop', () => {
  test.each([
    { second: 0, state: 'running', ready: true, restarts: 0 },
    { second: 10, state: 'terminated', ready: false, restarts: 0 },
    { second: 13, state: 'running', ready: false, restarts: 1 },
    { second: 16, state: 'waiting', ready: false, restarts: 1 },
    { second: 30, state: 'waiting', ready: false, restarts: 2 },
    { second: 40, state: 'running', ready: true, restarts: 3 },
    { second: 100, state: 'running', ready: true, restarts: 6 },
  ])('at second $second', ({ second, state, ready, restarts }) => {
    const all = crashLoop(SETTING, second)
    const [pod] = ofType(all, 'pods')
    const [container] = pod.status.containerStatuses
    expect(Object.keys(container.state)).toEqual([state])
    expect(container).toMatchObject({ ready, restartCount: restarts })
    expect(ofType(all, 'deployments')[0].status.readyReplicas).toBe(ready ? 1 : 0)
    expect(ofType(all, 'replicasets')[0].status.readyReplicas).toBe(ready ? 1 : undefined)
  })

  test('never restarts less often than before, nor ends a run in the future', () => {
    let restarts = 0
    for (const second of SECONDS) {
      const [pod] = ofType(crashLoop(SETTING, second), 'pods')
      const [container] = pod.status.containerStatuses
      expect(container.restartCount).toBeGreaterThanOrEqual(restarts)
      restarts = container.restartCount
      const ended = container.lastState.terminated?.finishedAt
      expect(ended !== undefined).toBe(restarts > 0 || 'waiting' in container.state)
      if (ended) {
        expect(Date.parse(ended)).toBeLessThanOrEqual(SETTING.start + second * 1000)
      }
    }
  })
})

describe('the node', () => {
  test.each([
    { second: 0, ready: 'True', tainted: false },
    { second: 24, ready: 'True', tainted: false },
    { second: 25, ready: 'Unknown', tainted: true },
    { second: 44, ready: 'Unknown', tainted: true },
    { second: 45, ready: 'True', tainted: false },
    { second: 85, ready: 'Unknown', tainted: true },
  ])('at second $second is ready: $ready', ({ second, ready, tainted }) => {
    const [node] = ofType(outage(SETTING, second), 'nodes')
    const condition = node.status.conditions.find(({ type }: JsonObject) => type === 'Ready')
    expect(condition.status).toBe(ready)
    expect(node.spec.taints !== undefined).toBe(tainted)
  })
})

test('the claim is ready for half of each minute', () => {
  const ready = SECONDS.filter((second) => {
    const [object] = ofType(claim(SETTING, second), 'sqlclaims')
    return object.status.conditions[1].status === 'True'
  })
  expect(ready).toHaveLength(120)
  expect(ready.slice(0, 2)).toEqual([30, 31])
})

const LIVES: ReadonlyArray<{ what: string; life: Life; reasons: readonly string[] }> = [
  { what: 'rollout', life: rollout, reasons: ['ScalingReplicaSet', 'Started'] },
  { what: 'crash loop', life: crashLoop, reasons: ['Started', 'BackOff'] },
  { what: 'node outage', life: outage, reasons: ['NodeNotReady', 'NodeReady'] },
  { what: 'claim', life: claim, reasons: ['BindCompositeResource'] },
]
describe.each(LIVES)('every life leaves events: $what', ({ life, reasons }) => {
  test('that name objects which are there, with their uids', () => {
    const seen = new Map<string, string>()
    for (const second of SECONDS.slice(0, 120)) {
      for (const { object } of life(SETTING, second)) {
        if (object.kind !== 'Event') seen.set(object.metadata!.uid!, object.metadata!.name!)
      }
    }
    const events = ofType(life(SETTING, 119), 'events')
    expect([...new Set(events.map(({ reason }) => reason))]).toEqual(reasons)
    for (const { involvedObject } of events) {
      expect(seen.get(involvedObject.uid)).toBe(involvedObject.name)
    }
  })

  test('that are never in the future, and do not pile up', () => {
    for (const second of [...SECONDS, 3600, 86_400]) {
      const events = ofType(life(SETTING, second), 'events')
      expect(events.length).toBeLessThan(60)
      for (const { lastTimestamp } of events) {
        expect(Date.parse(lastTimestamp)).toBeLessThanOrEqual(SETTING.start + second * 1000)
      }
    }
  })

  test('the same seed and time make the same objects, another seed others', () => {
    expect(life(SETTING, 77)).toEqual(life({ ...SETTING }, 77))
    expect(life({ ...SETTING, seed: 'other' }, 77)).not.toEqual(life(SETTING, 77))
  })
})

describe('played on a member', () => {
  let server: MemberServer
  let player: LifePlayer
  beforeEach(() => {
    server = new MemberServer({ version: 'v1.33.1', resources: builtInResources() })
    player = new LifePlayer([{ server, setting: SETTING, lives: [rollout, crashLoop, outage] }])
  })
  const held = () => {
    const types = ['deployments', 'replicasets', 'pods', 'nodes', 'events']
    return types.flatMap((resource) => {
      const group = ['deployments', 'replicasets'].includes(resource) ? 'apps' : ''
      return server.list({ group, resource }).map(({ text }) => {
        const { resourceVersion: _, ...metadata } = JSON.parse(text.toString()).metadata
        return `${resource}/${metadata.name}/${metadata.uid}`
      })
    })
  }

  test('second by second or after a long sleep, the member holds the same', () => {
    for (const second of SECONDS) player.advanceTo(second)
    const stepped = held()
    server = new MemberServer({ version: 'v1.33.1', resources: builtInResources() })
    player = new LifePlayer([{ server, setting: SETTING, lives: [rollout, crashLoop, outage] }])
    player.advanceTo(0)
    player.advanceTo(239)
    expect(held()).toEqual(stepped)
  })

  test('a second in which nothing happens writes nothing', () => {
    player.advanceTo(50)
    const before = server.resourceVersion
    player.advanceTo(51)
    expect(server.resourceVersion).toBe(before)
  })

  test('what goes is removed, not left behind', () => {
    player.advanceTo(5)
    const old = server.list({ group: '', resource: 'pods' }).map(({ name }) => name)
    player.advanceTo(59)
    const now = server.list({ group: '', resource: 'pods' }).map(({ name }) => name)
    expect(old.filter((name) => now.includes(name)).length).toBe(2) // payments, and the first new one
  })
})
