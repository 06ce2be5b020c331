/**
 * The API server as `fleetglass apiserver` starts it in a management cluster, behind a front proxy
 * as kube-apiserver's aggregator is one, and reached directly.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DIRECT_SETTINGS, directAddressOf } from '../../../src/cli/parts/direct-address.ts'
import { startFileCertifiedServer } from '../../../src/cli/parts/file-certified-server.ts'
import { openReaders, READER_SETTINGS } from '../../../src/cli/parts/readers.ts'
import { type Clock, systemClock } from '../../../src/clock.ts'
import { parseConfig } from '../../../src/config.ts'
import { createKeyring } from '../../../src/keyring.ts'
import type { RequestAttributes } from '../../../src/kube/request-attributes.ts'
import { createLogger } from '../../../src/log.ts'
import { kindOfResource } from '../../../src/registration/kinds.ts'
import { createRegistrations } from '../../../src/registration/registrations.ts'
import { Authority, FOR_THIS_MACHINE } from '../authority.ts'
import { testDatabase } from '../database.ts'
import { type FrontProxy, startFrontProxy } from './front-proxy.ts'
import { startManagementCluster } from './management-cluster.ts'
import { reviewsStandIn, type UserInfo } from './reviews.ts'

const CONFIG_MAPS = { group: '', resource: 'configmaps' }

/** Seconds pass as hundredths of one. */
const quick: Clock = {
  now: systemClock.now,
  sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / 100, signal),
}

/** Of `fleetglass apiserver`. */
export interface ServerFlags {
  readonly authorizationMode?: string
  readonly advertiseDirectUrl?: string
}

export interface Serving {
  readonly url: string
  readonly proxy: FrontProxy
}

export interface AggregatedOptions {
  /** By token. */
  readonly users: ReadonlyMap<string, UserInfo>
  /** RBAC of the management cluster, which the proxy asks. */
  readonly allows: (user: UserInfo, attributes: RequestAttributes) => boolean
}

export type AggregatedFleet = Awaited<ReturnType<typeof aggregatedFleet>>

/** Everything is closed with `started`. */
export async function aggregatedFleet(
  { users, allows }: AggregatedOptions,
  started: AsyncDisposableStack,
) {
  const cluster = await startManagementCluster()
  started.defer(() => cluster.stop())
  const database = await testDatabase()
  started.defer(() => database.drop())
  const keyring = createKeyring(randomBytes(32))
  const registrations = createRegistrations({ store: database.store, keyring, clock: systemClock })
  started.defer(() => registrations.close())
  const reviews = reviewsStandIn()
  for (const [token, user] of users) reviews.tokens.set(token, user)
  cluster.standIn!.answer(reviews.handler)
  const proxyCa = await Authority.root('CN=front-proxy')
  const serverCa = await Authority.root('CN=fleetglass CA')
  const file = (name: string) => join(cluster.folder, name)
  await writeServingPair()
  writeFileSync(file('fleetglass-ca.crt'), serverCa.cert)

  async function writeServingPair(): Promise<void> {
    const pair = await serverCa.issue({
      ...{ subject: 'CN=fleetglass', usage: 'serverAuth' },
      extensions: [FOR_THIS_MACHINE],
    })
    writeFileSync(file('tls.key'), pair.key)
    writeFileSync(file('tls.crt'), pair.cert)
  }

  /** Started with these flags; behind a proxy of its own. */
  async function serve(flags: ServerFlags = {}): Promise<Serving> {
    const log = createLogger('silent')
    const ca = flags.advertiseDirectUrl && { advertiseDirectCaFile: file('fleetglass-ca.crt') }
    const names = [...READER_SETTINGS, ...DIRECT_SETTINGS]
    const config = parseConfig(names, { ...flags, ...ca }, { environment: {} })
    const readers = openReaders({ config, management: cluster.admin, clock: quick, log }, started)
    const address = directAddressOf({ config, clock: quick, log }, started)
    const server = await startFileCertifiedServer({
      ...{ store: database.store, registrations, management: cluster.admin, readers },
      ...{ certFile: file('tls.crt'), keyFile: file('tls.key'), log, clock: quick },
      ...{ listen: { host: '127.0.0.1', port: 0 }, continueByDefault: true },
      readerLimits: { streams: 16, queries: 64 },
      ...(address && { direct: address }),
    })
    started.defer(() => server.stop())
    const url = `https://127.0.0.1:${server.port}`
    return { url, proxy: await startProxy(url) }
  }

  async function startProxy(url: string): Promise<FrontProxy> {
    const [cert, key] = [readFileSync(file('server.crt')), readFileSync(file('server.key'))]
    const client = await proxyCa.issue({ subject: 'CN=front-proxy-client', usage: 'clientAuth' })
    const proxy = await startFrontProxy({
      serving: { cert: cert.toString(), key: key.toString() },
      ...{ users, allows },
      fleetglass: { url, ca: serverCa.cert, client },
      management: { url: cluster.url, ca: cluster.ca, token: cluster.token },
    })
    started.defer(() => proxy.stop())
    return proxy
  }

  let configs = 0
  return {
    ...{ cluster, database, reviews, serverCa, file, writeServingPair, serve },
    /** What kube-apiserver says of its front proxy; until then nobody is believed. */
    announceProxy(): void {
      cluster.standIn!.member.put(CONFIG_MAPS, {
        metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
        data: {
          'client-ca-file': cluster.ca,
          'requestheader-client-ca-file': proxyCa.cert,
          'requestheader-allowed-names': '["front-proxy-client"]',
          'requestheader-username-headers': '["X-Remote-User"]',
          'requestheader-group-headers': '["X-Remote-Group"]',
          'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
        },
      })
    },
    /** A FleetAccess, as the copy of the management cluster's. */
    async grant(name: string, spec: object): Promise<void> {
      const access = {
        ...{ apiVersion: 'fleetglass.io/v1alpha1', kind: 'FleetAccess', metadata: { name } },
        spec,
      }
      await registrations.create({
        kind: kindOfResource('fleetglass.io', 'fleetaccesses'),
        body: { text: JSON.stringify(access), format: 'json' },
        options: { fieldManager: 'test', dryRun: false },
      })
    },
    /** The path of a kubeconfig. */
    kubeconfig(token: string, server: string, { ca = cluster.ca } = {}): string {
      const path = file(`kubeconfig-${configs++}`)
      const at = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
      const config = {
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'there' },
        clusters: [{ name: 'there', cluster: at }],
        users: [{ name: 'me', user: { token } }],
        contexts: [{ name: 'there', context: { cluster: 'there', user: 'me' } }],
      }
      writeFileSync(path, JSON.stringify(config))
      return path
    },
  }
}
