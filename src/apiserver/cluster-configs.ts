/**
 * `…/resources/kubeconfig`: the fleet and the clusters of the reader, as entries of a kubeconfig.
 *
 * For hack/gen-clusterconfigs.sh: readers may not list PediaClusters where these are objects of a
 * management cluster, and how this server is reached past the aggregator is told nowhere else.
 */
import type { FastifyInstance } from 'fastify'
import { FLEET_PREFIX, memberPrefix } from '../kube/fleet-prefix.ts'
import type { Access } from './access/access.ts'
import { JsonDocument, sendDocument } from './send-document.ts'

/** Where readers reach this server itself. */
export interface DirectAddress {
  /** `https://HOST:PORT`, without a slash at its end. */
  readonly url: string
  /** PEM; undefined where its certificate is one that every machine trusts. */
  readonly ca: () => string | undefined
}

export interface ClusterConfigsOptions {
  readonly access: Access
  /** Left out: readers stay where they came from, and entries have no address. */
  readonly direct?: DirectAddress
}

const PATH = `${FLEET_PREFIX}/kubeconfig`
/** The whole fleet. */
const FLEET_ENTRY = 'clusterpedia'

/** Fastify plugin. */
export async function clusterConfigs(
  server: FastifyInstance,
  { access, direct }: ClusterConfigsOptions,
): Promise<void> {
  server.get(PATH, (request, reply) => {
    const members = access.visible(request.identity).map(({ cluster }) => cluster.name)
    const places = [
      { name: FLEET_ENTRY, prefix: FLEET_PREFIX },
      ...members.map((name) => ({ name, prefix: memberPrefix(name) })),
    ]
    const document = {
      ...{ kind: 'Config', apiVersion: 'v1', preferences: {} },
      clusters: places.map(({ name, prefix }) => ({ name, cluster: clusterAt(prefix, direct) })),
      ...{ users: [], contexts: [], 'current-context': '' },
    }
    return sendDocument({ request, reply }, new JsonDocument(document))
  })
}

function clusterAt(prefix: string, direct: DirectAddress | undefined): object {
  if (!direct) return {}
  const ca = direct.ca()
  return {
    server: direct.url + prefix,
    ...(ca !== undefined && {
      'certificate-authority-data': Buffer.from(ca).toString('base64'),
    }),
  }
}
