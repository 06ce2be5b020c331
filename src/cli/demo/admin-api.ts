/** Our own API as the administrator's client uses it: over HTTPS, with the client certificate. */
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import type { KubeObject } from '../../kube/kube-object.ts'
import { CLUSTER_API_VERSION, type PediaCluster } from '../../kube/pedia-cluster.ts'
import { CommandFailure } from '../failure.ts'

export interface AdminApi {
  /** As `kubectl apply --server-side`. @throws CommandFailure with the server's own message. */
  apply(manifest: KubeObject): Promise<void>
  pediaClusters(): Promise<readonly PediaCluster[]>
}

interface Reached {
  readonly url: string
  readonly dataDir: string
}

const RESOURCES: Readonly<Record<string, string>> = {
  PediaCluster: 'pediaclusters',
  ClusterSyncResources: 'clustersyncresources',
}
const PREFIX = `/apis/${CLUSTER_API_VERSION}`

export function adminApi(reached: Reached): AdminApi {
  const credentials = credentialsOf(reached.dataDir)
  const call = (method: string, path: string, body?: string) =>
    send(`${reached.url}${PREFIX}/${path}`, { method, ...credentials }, body)
  return {
    async apply(manifest) {
      const resource = RESOURCES[manifest.kind ?? '']
      const path = `${resource}/${manifest.metadata?.name}?fieldManager=fleetglass-demo&force=true`
      await call('PATCH', path, JSON.stringify(manifest))
    },
    async pediaClusters() {
      const { items } = JSON.parse(await call('GET', RESOURCES.PediaCluster!))
      return items
    },
  }
}

function credentialsOf(dataDir: string) {
  const read = (file: string) => readFileSync(join(dataDir, 'pki', file))
  return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') }
}

type SendOptions = { readonly method: string } & ReturnType<typeof credentialsOf>

function send(url: string, options: SendOptions, body?: string): Promise<string> {
  const headers = body === undefined ? {} : { 'content-type': 'application/apply-patch+yaml' }
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, headers }, (answer) => {
      answer.setEncoding('utf8')
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('error', reject)
      answer.on('end', () => {
        if ((answer.statusCode ?? 0) < 300) resolve(text)
        else reject(new CommandFailure(`${options.method} ${url}: ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
