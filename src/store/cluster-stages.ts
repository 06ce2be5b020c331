/**
 * A limited list in the order of clusters is read in stages: the first cluster, then as many of the
 * rest as seem to be needed.
 *
 * Half a page of Failed pods is mostly found in the first cluster, where the key index is walked up
 * to the limit; asked of all clusters at once, every match of the fleet would be fetched and sorted.
 * What is rare costs one search more.
 */
import { compareBytes } from '../kube/byte-order.ts'
import type { ListRequest } from './list-request.ts'
import { orderOf } from './order.ts'
import type { ReadScope } from './read-scope.ts'

/** Clusters differ: one stage more costs more than reading somewhat too much. */
const MARGIN = 1.5

export class ClusterStages {
  readonly #request: ListRequest
  readonly #staged: boolean
  #rest: ReadScope
  #visited = 0
  #found = 0

  /** @throws StatusError 400 when `after` is not of the request's order. */
  constructor(request: ListRequest) {
    const { scope, limit, offset, after, order } = request
    this.#request = request
    this.#rest = scope
    this.#staged = limit !== undefined && !offset && scope.length > 1 && isByCluster(order)
    if (!this.#staged || !after) return
    orderOf(order, scope).after(after)
    this.#rest = scope.filter(({ name }) => compareBytes(name, after.cluster) >= 0)
  }

  /** The request for the next clusters; undefined when nothing more is wanted. */
  next(): ListRequest | undefined {
    const { limit } = this.#request
    const missing = limit === undefined ? undefined : limit - this.#found
    if (this.#rest.length === 0 || missing === 0) return undefined
    const scope = this.#rest.slice(0, this.#clusters(missing))
    this.#rest = this.#rest.slice(scope.length)
    this.#visited += scope.length
    if (!this.#staged) return this.#request
    const { after, ...rest } = this.#request
    const begins = after !== undefined && scope[0]!.name === after.cluster
    return { ...rest, scope, limit: missing!, ...(begins && { after }) }
  }

  delivered(rows: number): void {
    this.#found += rows
  }

  #clusters(missing: number | undefined): number {
    const left = this.#rest.length
    if (!this.#staged || missing === undefined) return left
    if (this.#visited === 0) return 1
    if (this.#found === 0) return left
    return Math.min(left, Math.ceil((missing / (this.#found / this.#visited)) * MARGIN))
  }
}

function isByCluster([first]: ListRequest['order']): boolean {
  return first === undefined || (first.by === 'cluster' && !first.descending)
}
