/** What the nodes of one cluster run: counted, so that no node's name leaves this file. */
import { compareBytes } from '../kube/byte-order.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { textAt } from './field.ts'
import { compareVersions, parseVersion } from './kubernetes-version.ts'

export interface VersionCount {
  readonly version: string
  readonly nodes: number
}

/** Each by version, the oldest first. */
export interface NodeVersions {
  readonly nodes: number
  readonly kubelets: readonly VersionCount[]
  readonly runtimes: readonly VersionCount[]
  readonly kernels: readonly VersionCount[]
  readonly operatingSystems: readonly VersionCount[]
}

export class NodeCounter {
  #nodes = 0
  readonly #counts = {
    kubeletVersion: new Map<string, number>(),
    containerRuntimeVersion: new Map<string, number>(),
    kernelVersion: new Map<string, number>(),
    osImage: new Map<string, number>(),
  }

  add(node: KubeObject): void {
    this.#nodes++
    for (const [field, counts] of Object.entries(this.#counts)) {
      const text = textAt(node, 'status', 'nodeInfo', field)
      if (text) counts.set(text, (counts.get(text) ?? 0) + 1)
    }
  }

  result(): NodeVersions {
    const counts = this.#counts
    return {
      nodes: this.#nodes,
      kubelets: listed(counts.kubeletVersion, byVersion),
      runtimes: listed(counts.containerRuntimeVersion, compareBytes),
      kernels: listed(counts.kernelVersion, compareBytes),
      operatingSystems: listed(counts.osImage, compareBytes),
    }
  }
}

function byVersion(a: string, b: string): number {
  return compareVersions(parseVersion(a), parseVersion(b))
}

function listed(
  counts: ReadonlyMap<string, number>,
  order: (a: string, b: string) => number,
): readonly VersionCount[] {
  return [...counts].sort(([a], [b]) => order(a, b)).map(([version, nodes]) => ({ version, nodes }))
}

/** What stands in for a server's version that was never told: the newest of its kubelets. */
export function newestKubelet(nodes: NodeVersions | undefined): string | undefined {
  return nodes?.kubelets.at(-1)?.version
}
