/** A fleet for all tests of a file, and for each of them a member cluster of its own. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

export interface OneMember {
  readonly fleet: SyncedFleet
  readonly member: MemberCluster
  /** Under which the member can be registered; what is registered under it is removed. */
  readonly name: string
}

export interface OneMemberOptions {
  readonly fleet?: Parameters<typeof syncedFleet>[0]
  readonly member?: Parameters<typeof startMemberCluster>[0]
}

/** @param begin - called before each test, and before hooks that come after this. */
export function oneMember(options: OneMemberOptions, begin: (made: OneMember) => void): void {
  let fleet: SyncedFleet
  let made: OneMember
  let count = 0
  beforeAll(async () => {
    fleet = await syncedFleet(options.fleet)
  })
  afterAll(async () => {
    await fleet.stop()
  })
  beforeEach(async () => {
    const member = await startMemberCluster(options.member)
    made = { fleet, member, name: `dot-${++count}` }
    begin(made)
  })
  afterEach(async () => {
    await fleet.remove(made.name)
    await made.member.stop()
  })
}
