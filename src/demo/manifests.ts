/** The manifests by which the demo's members are registered: what a user would write. */
import { formatYaml } from '../kube/format-yaml.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { CLUSTER_API_VERSION, type PediaClusterSpec } from '../kube/pedia-cluster.ts'
import { type DemoMember, SHARED_SYNC } from './members.ts'
import type { DemoPki } from './pki.ts'

export interface Access {
  readonly url: string
  readonly token: string
  readonly pki: DemoPki
}

export function syncResourcesManifest(): KubeObject {
  return {
    apiVersion: CLUSTER_API_VERSION,
    kind: 'ClusterSyncResources',
    metadata: { name: SHARED_SYNC.name },
    spec: { syncResources: SHARED_SYNC.syncResources },
  }
}

export function pediaClusterManifest(member: DemoMember, access: Access): KubeObject {
  const spec: PediaClusterSpec = {
    ...credentials(member, access),
    syncResourcesRefName: SHARED_SYNC.name,
    syncResources: member.sync.own,
    ...(member.sync.allCustomResources && { syncAllCustomResources: true }),
  }
  return {
    apiVersion: CLUSTER_API_VERSION,
    kind: 'PediaCluster',
    metadata: { name: member.name, labels: member.labels },
    spec,
  }
}

function credentials(member: DemoMember, { url, token, pki }: Access): PediaClusterSpec {
  const byFields = { apiserver: url, caData: base64(pki.ca) }
  switch (member.registeredBy) {
    case 'token':
      return { ...byFields, tokenData: base64(token) }
    case 'client certificate':
      return { ...byFields, certData: base64(pki.client.cert), keyData: base64(pki.client.key) }
    case 'kubeconfig with token':
      return { kubeconfig: base64(kubeconfig(member.name, { url, pki }, { token })) }
    case 'kubeconfig with certificate': {
      const user = {
        'client-certificate-data': base64(pki.client.cert),
        'client-key-data': base64(pki.client.key),
      }
      return { kubeconfig: base64(kubeconfig(member.name, { url, pki }, user)) }
    }
    default:
      return member.registeredBy satisfies never
  }
}

function kubeconfig(
  name: string,
  { url, pki }: Pick<Access, 'url' | 'pki'>,
  user: Readonly<Record<string, string>>,
): string {
  return formatYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(pki.ca) } }],
    users: [{ name: 'fleetglass', user }],
    contexts: [{ name, context: { cluster: name, user: 'fleetglass' } }],
    'current-context': name,
  })
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
