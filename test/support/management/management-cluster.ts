/**
 * The API server of a management cluster, for tests: a real one where KUBE_APISERVER and ETCD name
 * binaries (real-apiserver.ts), else a stand-in of our own (stand-in.ts). Both speak HTTPS and serve
 * the CRDs of crds/.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessFromKubeconfigFile } from '../../../src/management/access.ts'
import { createManagementClient, type ManagementClient } from '../../../src/management/client.ts'
import { ManagementError } from '../../../src/management/management-error.ts'
import { startRealApiserver } from './real-apiserver.ts'
import { type StandIn, startStandIn } from './stand-in.ts'

/** Where fleetglass runs in the tests: made when the cluster starts. */
export const NAMESPACE = 'fleetglass-system'

export interface RunningApiserver {
  readonly url: string
  /** PEM. */
  readonly ca: string
  /** Of system:masters. */
  readonly token: string
  /** Refuses connections and cuts those there are, until {@link comeBack}. */
  goDown(): Promise<void>
  comeBack(): Promise<void>
  stop(): Promise<void>
}

export interface ManagementCluster extends RunningApiserver {
  /** A file: the administrator, in {@link NAMESPACE}. */
  readonly kubeconfig: string
  /** Asks as the administrator. */
  readonly admin: ManagementClient
  /** Holds `ca`, and clients that it issued: `admin.crt` … (certificates.ts). */
  readonly folder: string
  /** For what a real one cannot be made to do. */
  readonly standIn?: StandIn
}

/** What tests start with: `real`, or why it is not. */
export function apiserverInUse(): 'real' | 'stand-in' {
  return process.env.KUBE_APISERVER && process.env.ETCD ? 'real' : 'stand-in'
}

export async function startManagementCluster(): Promise<ManagementCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetglass-management-'))
  const { KUBE_APISERVER: apiserver, ETCD: etcd } = process.env
  const standIn = apiserver && etcd ? undefined : await startStandIn(folder)
  const running =
    standIn ?? (await startRealApiserver({ apiserver: apiserver!, etcd: etcd!, folder }))
  const kubeconfig = join(folder, 'admin.kubeconfig')
  writeFileSync(kubeconfig, kubeconfigOf(running))
  const admin = createManagementClient(accessFromKubeconfigFile(kubeconfig), {
    userAgent: 'fleetglass-test',
  })
  await ensureNamespace(admin)
  return {
    ...{ folder, ...(standIn && { standIn }) },
    ...{ kubeconfig, admin, url: running.url, ca: running.ca, token: running.token },
    goDown: () => running.goDown(),
    comeBack: () => running.comeBack(),
    stop: async () => {
      await admin.close()
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function kubeconfigOf({ url, ca, token }: RunningApiserver): string {
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'management' },
    clusters: [{ name: 'management', cluster }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [
      {
        name: 'management',
        context: { cluster: 'management', user: 'admin', namespace: NAMESPACE },
      },
    ],
  })
}

async function ensureNamespace(admin: ManagementClient): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  await admin.request('POST', '/api/v1/namespaces', { body }).catch((error: unknown) => {
    if (!(error instanceof ManagementError && error.code === 409)) throw error
  })
}
