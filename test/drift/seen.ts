/** Facts about clusters, made from objects by the rules' own readers; written short. */
import type { CrdFacts } from '../../src/drift/compare-crds.ts'
import type { VersionFacts } from '../../src/drift/compare-versions.ts'
import type { ComparisonInput, Seen, Unknown, Why } from '../../src/drift/comparison.ts'
import { crdShape } from '../../src/drift/crd-shape.ts'
import { type ImageFacts, ImageInventory } from '../../src/drift/image-inventory.ts'
import { NodeCounter } from '../../src/drift/node-versions.ts'
import { imagesIn } from '../../src/drift/pod-images.ts'

export const NOW = new Date('2026-09-01T12:00:00Z')

export function seen<Facts>(name: string, facts: Facts): Seen<Facts> {
  return { name, observedAt: NOW, facts }
}

export function unknown(cluster: string, why: Why = 'disconnected'): Unknown {
  return { cluster, why, message: '' }
}

/** `A` → a digest of 64 digits. */
export function digest(letter: string): string {
  return `sha256:${letter.toLowerCase().repeat(64).slice(0, 64)}`
}

export interface Running {
  readonly image: string
  /** `A`: pulled as the digest of this letter; `bare:A`: known as a bare image id only. */
  readonly pulled?: string
  readonly architecture?: string
}

/** A text is an image of which is not known what was pulled. */
export function images(...running: ReadonlyArray<Running | string>): ImageFacts {
  const inventory = new ImageInventory()
  for (const one of running) {
    const { image, pulled, architecture } = typeof one === 'string' ? { image: one } : one
    const pod = podOf(image, pulled)
    for (const container of imagesIn(pod)) {
      inventory.add(container, { namespace: 'default', architecture })
    }
  }
  return inventory
}

function podOf(image: string, pulled: string | undefined) {
  const imageID = pulled?.startsWith('bare:')
    ? digest(pulled.slice(5))
    : pulled && `docker-pullable://registry.example.com/app@${digest(pulled)}`
  return {
    spec: { containers: [{ name: 'main', image }] },
    status: { containerStatuses: [{ name: 'main', image: 'other:tag', imageID }] },
  }
}

/** `{ a: [...], b: [...] }`. */
export function running(
  clusters: Readonly<Record<string, ReadonlyArray<Running | string>>>,
  more: Partial<ComparisonInput<ImageFacts>> = {},
): ComparisonInput<ImageFacts> {
  const all = Object.entries(clusters).map(([name, list]) => seen(name, images(...list)))
  return { seen: all, unknown: [], ...more }
}

export function versions(
  clusters: Readonly<Record<string, string>>,
  more: Partial<ComparisonInput<VersionFacts>> = {},
): ComparisonInput<VersionFacts> {
  const all = Object.entries(clusters).map(([name, version]) =>
    seen(name, { version, estimated: false, nodes: undefined }),
  )
  return { seen: all, unknown: [], ...more }
}

/** A server with nodes of these kubelets. */
export function withKubelets(version: string, kubelets: readonly string[]): VersionFacts {
  const counter = new NodeCounter()
  for (const kubeletVersion of kubelets) counter.add({ status: { nodeInfo: { kubeletVersion } } })
  return { version, estimated: false, nodes: counter.result() }
}

export interface CrdWish {
  readonly name: string
  readonly served?: readonly string[]
  readonly storage?: string
  readonly scope?: string
  readonly established?: boolean
  readonly deletionTimestamp?: string
}

export function crdOf(wish: CrdWish) {
  const { name, served = ['v1'], storage = served[0], scope = 'Namespaced' } = wish
  const status = (wish.established ?? true) ? 'True' : 'False'
  return {
    metadata: {
      name,
      ...(wish.deletionTimestamp && { deletionTimestamp: wish.deletionTimestamp }),
    },
    spec: {
      scope,
      versions: [...new Set([...served, ...(storage ? [storage] : [])])].map((version) => ({
        ...{ name: version, served: served.includes(version), storage: version === storage },
      })),
    },
    status: { conditions: [{ type: 'Established', status }] },
  }
}

export function crds(
  clusters: Readonly<Record<string, readonly CrdWish[]>>,
  more: Partial<ComparisonInput<CrdFacts>> = {},
): ComparisonInput<CrdFacts> {
  const all = Object.entries(clusters).map(([name, list]) =>
    seen(name, { crds: list.map((wish) => crdShape(crdOf(wish))!) }),
  )
  return { seen: all, unknown: [], ...more }
}
