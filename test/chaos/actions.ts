/** What chaos does: small acts, each with everything that is random about it in its arguments. */
import fc from 'fast-check'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import { type ChaosFleet, type ChaosMember, MEMBERS, SYNCERS, TYPES } from './fleet.ts'

export interface Action {
  /** For the report of a failure. */
  readonly name: string
  readonly run: (fleet: ChaosFleet) => Promise<void> | void
}

const memberIndex = fc.nat(MEMBERS - 1)
const type = fc.constantFrom(...TYPES)
const syncerIndex = fc.nat(SYNCERS - 1)
const pause = fc.integer({ min: 0, max: 400 })
/** Few, so that they meet: names that begin alike, and need escapes. */
const namespace = fc.constantFrom('ns1', 'ns11', 'default')
const objectName = fc
  .tuple(fc.constantFrom('a', 'a-b', 'a.b', 'ab', 'system:node', 'z%3Az'), fc.nat(9))
  .map(([text, number]) => `${text}${number}`)
/** What JSON has to escape, wide characters, and sizes that fill a batch. */
const data = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('\u0000', '\\u0000', '\ud800', '北京😀'.repeat(50)),
  fc.nat(60_000).map((length) => 'x'.repeat(length)),
)

const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** An act upon one type of one member. */
function onType(
  name: string,
  act: (member: ChaosMember, of: GroupResource) => Promise<void> | void,
): fc.Arbitrary<Action> {
  return fc.tuple(memberIndex, type).map(([index, of]) => ({
    name: `${name} m-${index} ${of.resource}`,
    run: (fleet) => act(fleet.members[index]!, of),
  }))
}

const put = fc
  .tuple(memberIndex, type, namespace, objectName, data)
  .map(([index, of, ns, name, value]) => ({
    name: `put m-${index} ${of.resource} ${ns}/${name}`,
    run: (fleet: ChaosFleet) => fleet.members[index]!.put(of, { namespace: ns, name }, value),
  }))

const remove = fc.tuple(memberIndex, type, namespace, objectName).map(([index, of, ns, name]) => ({
  name: `remove m-${index} ${of.resource} ${ns}/${name}`,
  run: (fleet: ChaosFleet) => void fleet.members[index]!.cluster.remove(of, ns, name),
}))

const recreate = fc
  .tuple(memberIndex, type, namespace, objectName, data)
  .map(([index, of, ns, name, value]) => ({
    name: `recreate m-${index} ${of.resource} ${ns}/${name}`,
    run: (fleet: ChaosFleet) => {
      const member = fleet.members[index]!
      member.cluster.remove(of, ns, name)
      member.put(of, { namespace: ns, name }, value)
    },
  }))

const burst = fc.tuple(memberIndex, type, fc.integer({ min: 10, max: 120 })).map(
  ([index, of, count]): Action => ({
    name: `burst of ${count} m-${index} ${of.resource}`,
    run: (fleet) => {
      for (let i = 0; i < count; i++) {
        fleet.members[index]!.put(of, { namespace: 'default', name: `b-${i}` }, `${count}`)
      }
    },
  }),
)

const removeAll = onType('remove all of', ({ cluster }, of) => {
  for (const { namespace: ns, name } of cluster.server.list(of)) cluster.remove(of, ns, name)
})

const connections = fc.oneof(
  onType('cut watches', ({ cluster }, of) => cluster.cutWatches(of)),
  onType('end watches', ({ cluster }, of) => cluster.endWatches(of)),
  onType('freeze watches', ({ cluster }, of) => cluster.freezeWatches(of)),
  onType('cut the next watch', ({ cluster }, of) => {
    cluster.cutNextWatch(of, { events: 1 })
    cluster.cutWatches(of)
  }),
  onType('cut a list short', ({ cluster }, of) => {
    cluster.truncateNext({ of, kind: 'list' }, 700)
    cluster.expireNextWatchByStatus(of)
    cluster.cutWatches(of)
  }),
  onType('bookmarks', ({ cluster }, of) => cluster.sendBookmarks(of)),
)

const relists = fc.oneof(
  onType('410 in the stream', ({ cluster }, of) => {
    cluster.expireNextWatchInStream(of)
    cluster.cutWatches(of)
  }),
  onType('410 as a status', ({ cluster }, of) => {
    cluster.expireNextWatchByStatus(of)
    cluster.cutWatches(of)
  }),
  onType('an unreadable line', ({ cluster }, of) => cluster.sendRubbish(of)),
  onType('expired continue tokens', ({ cluster }, of) => {
    cluster.expireNextContinue(of, 2)
    cluster.expireNextWatchByStatus(of)
    cluster.cutWatches(of)
  }),
  onType('compaction', ({ cluster }, of) => {
    cluster.compact()
    cluster.cutWatches(of)
  }),
  onType('answers 500 and 429', ({ cluster }, of) => {
    cluster.fail({ of }, { code: 500, times: 2 })
    cluster.fail({ of }, { code: 429, retryAfterSeconds: 0, times: 1 })
    cluster.cutWatches(of)
  }),
)

const outage = fc.tuple(memberIndex, pause).map(
  ([index, milliseconds]): Action => ({
    name: `m-${index} is away for ${milliseconds} ms`,
    run: async (fleet) => {
      const { cluster } = fleet.members[index]!
      await cluster.goDown()
      await sleep(milliseconds)
      await cluster.comeBack()
    },
  }),
)

const database = fc.oneof(
  fc.tuple(fc.constantFrom('in-order' as const, 'crash' as const), pause).map(
    ([how, milliseconds]): Action => ({
      name: `the database restarts (${how}), away for ${milliseconds} ms`,
      run: (fleet) => fleet.postgres.restart(how, milliseconds),
    }),
  ),
  fc.constant<Action>({
    name: 'the database drops its connections',
    run: async ({ store }) => {
      const others = `select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`
      await store.pool.query(others).catch(() => undefined)
    },
  }),
)

const syncers = fc.oneof(
  fc.tuple(syncerIndex, pause).map(
    ([index, milliseconds]): Action => ({
      name: `kill -9 of syncer ${index}, away for ${milliseconds} ms`,
      run: async (fleet) => {
        await fleet.killSyncer(index)
        await sleep(milliseconds)
        fleet.startSyncer(index)
      },
    }),
  ),
  syncerIndex.map(
    (index): Action => ({
      name: `syncer ${index} sleeps through its lease`,
      run: async (fleet) => {
        fleet.signalSyncer(index, 'SIGSTOP')
        await sleep(2_500)
        fleet.signalSyncer(index, 'SIGCONT')
      },
    }),
  ),
)

const waiting = pause.map(
  (milliseconds): Action => ({ name: `${milliseconds} ms`, run: () => sleep(milliseconds) }),
)

/** One round: mostly changes of objects, faults among them. */
export const round: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.oneof(
    { arbitrary: put, weight: 30 },
    { arbitrary: remove, weight: 15 },
    { arbitrary: recreate, weight: 8 },
    { arbitrary: burst, weight: 4 },
    { arbitrary: removeAll, weight: 1 },
    { arbitrary: connections, weight: 8 },
    { arbitrary: relists, weight: 8 },
    { arbitrary: outage, weight: 2 },
    { arbitrary: database, weight: 2 },
    { arbitrary: syncers, weight: 2 },
    { arbitrary: waiting, weight: 15 },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
)
