/**
 * The demo's fleet: four member clusters of different releases on this machine, alive, and the
 * manifests that register them.
 *
 * The same seed and clock make the same fleet; addresses, tokens and certificates are always new.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import type { Logger } from '../log.ts'
import { clusterObjects } from './cluster-objects.ts'
import { definitionsOf } from './custom-resource-definitions.ts'
import { LifePlayer, live } from './life/live.ts'
import { pediaClusterManifest, syncResourcesManifest } from './manifests.ts'
import { releaseOf } from './member/release.ts'
import { MemberServer } from './member-server.ts'
import { DEMO_MEMBERS, type DemoMember } from './members.ts'
import { resourcesOfRelease } from './older-releases.ts'
import { createDemoPki } from './pki.ts'
import type { Setting } from './placed.ts'
import { builtInResources, recordedObjects, recordedOpenApi } from './recorded.ts'
import { withEventsOfObjects } from './recorded-events.ts'

export interface DemoFleet {
  readonly members: ReadonlyArray<{ readonly name: string; readonly url: string }>
  /** ClusterSyncResources first, then the PediaClusters that name it. */
  readonly manifests: readonly KubeObject[]
  /** The servers behind `members`, in the same order. */
  readonly servers: readonly MemberServer[]
  stop(): Promise<void>
}

export interface DemoFleetOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Changes generated names and uids. */
  readonly seed?: string
}

const USER = 'system:serviceaccount:fleetglass:fleetglass'

/** Over an hour of the busiest member: it forgets as etcd does, or a demo left alone would only grow. */
const CHANGES_KEPT = 5_000

/** Returns when all members accept connections. */
export async function startDemoFleet(options: DemoFleetOptions): Promise<DemoFleet> {
  const { clock, log, seed = 'demo' } = options
  const start = clock.now()
  const material = {
    resources: builtInResources(),
    recorded: withEventsOfObjects(recordedObjects()),
    openApi: recordedOpenApi(),
  }
  const started = await Promise.all(
    DEMO_MEMBERS.map(async (member) => {
      const setting = { cluster: member.name, start, version: member.version, seed }
      return await startMember({ member, setting, material, clock })
    }),
  )
  const player = new LifePlayer(started)
  player.advanceTo(0)
  await Promise.all(started.map(({ server }) => server.start()))
  const stopping = new AbortController()
  const playing = live(player, { clock, start, signal: stopping.signal, log })
  return {
    members: started.map(({ member, server }) => ({ name: member.name, url: server.url })),
    manifests: [
      syncResourcesManifest(),
      ...started.map(({ member, server, token, pki }) =>
        pediaClusterManifest(member, { url: server.url, token, pki }),
      ),
    ],
    servers: started.map(({ server }) => server),
    stop: async () => {
      stopping.abort()
      await playing
      await Promise.all(started.map(({ server }) => server.stop()))
    },
  }
}

interface Material {
  readonly resources: ReturnType<typeof builtInResources>
  readonly recorded: ReturnType<typeof recordedObjects>
  readonly openApi: ReturnType<typeof recordedOpenApi>
}

async function startMember(of: {
  member: DemoMember
  setting: Setting
  material: Material
  clock: Clock
}) {
  const { member, setting, material, clock } = of
  const pki = await createDemoPki({ name: member.name, clientName: USER, now: clock.now() })
  const token = randomBytes(24).toString('base64url')
  const minor = Number(releaseOf(member.version).minor)
  const server = new MemberServer({
    version: member.version,
    resources: resourcesOfRelease(material.resources, minor),
    openApi: material.openApi,
    tls: { ...pki.server, clientCa: pki.ca },
    tokens: { [token]: USER },
    firstRevision: BigInt(member.ageDays) * 7919n,
    maxChanges: CHANGES_KEPT,
    clock,
  })
  // Definitions first: they make the types of custom objects served.
  const definitions = definitionsOf(setting, member, material.recorded)
  for (const { of: type, object } of definitions) server.put(type, object)
  const serves = (type: { group: string; resource: string }) =>
    server.resources.anyVersion(type) !== undefined
  const objects = clusterObjects(setting, member, { recorded: material.recorded, serves })
  for (const { of: type, object } of objects) server.put(type, object)
  return { member, setting, server, token, pki, lives: member.lives }
}
