/** Sees every request of a member server first, and lets faults change or replace its answer. */
import type {
  Exchange,
  MemberRequest,
  MemberServer,
  RequestKind,
} from '../../src/demo/member-server.ts'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import { type Gate, gatedOutput } from './broken-output.ts'

/** Which requests a fault concerns. Left out: all. */
export interface Target {
  readonly of?: GroupResource
  readonly kind?: RequestKind
  readonly namespace?: string
}

/** One request that came, in the order they came. */
export type SeenRequest = Pick<
  MemberRequest,
  'kind' | 'group' | 'version' | 'resource' | 'namespace' | 'name' | 'path' | 'query' | 'headers'
>

/** Returns true when it answered. */
export type Fault = (exchange: Exchange) => boolean

interface InFlight {
  readonly exchange: Exchange
  readonly gate: Gate
}

export class RequestFaults {
  /** Every request so far. */
  readonly seen: SeenRequest[] = []
  readonly #inFlight = new Set<InFlight>()
  /** The latest first. */
  readonly #faults: Fault[] = []

  constructor(server: MemberServer) {
    server.intercept((exchange) => this.#meet(exchange))
  }

  /** Requests whose answer is not over. */
  inFlight(target: Target): InFlight[] {
    return [...this.#inFlight].filter(({ exchange }) => concerns(target, exchange.request))
  }

  /** Changes how the next such request is answered. */
  alterNext(target: Target, alter: (exchange: Exchange) => void): void {
    this.whenever({ ...target, times: 1 }, (exchange) => {
      alter(exchange)
      return false
    })
  }

  /** Answers the next such request in the server's place. */
  answerNext(target: Target, answer: (exchange: Exchange) => void): void {
    this.whenever({ ...target, times: 1 }, (exchange) => {
      answer(exchange)
      return true
    })
  }

  /** Puts a fault upon the requests that it concerns. Returns how to stop it. */
  whenever(target: Target & { readonly times?: number }, fault: Fault): () => void {
    let left = target.times ?? Number.POSITIVE_INFINITY
    const stop = this.add((exchange) => {
      if (!concerns(target, exchange.request)) return false
      if (--left <= 0) stop()
      return fault(exchange)
    })
    return stop
  }

  add(fault: Fault): () => void {
    this.#faults.unshift(fault)
    return () => {
      const index = this.#faults.indexOf(fault)
      if (index >= 0) this.#faults.splice(index, 1)
    }
  }

  #meet(exchange: Exchange): boolean {
    const { request, response } = exchange
    this.seen.push(request)
    const entry: InFlight = { gate: { open: true }, exchange }
    exchange.output = gatedOutput(exchange.output, entry.gate)
    this.#inFlight.add(entry)
    response.once('close', () => this.#inFlight.delete(entry))
    return [...this.#faults].some((fault) => fault(exchange))
  }
}

export function concerns(target: Target, request: SeenRequest): boolean {
  if (target.kind !== undefined && target.kind !== request.kind) return false
  if (target.of && !sameType(target.of, request)) return false
  return target.namespace === undefined || target.namespace === request.namespace
}

export function sameType(a: GroupResource, b: GroupResource): boolean {
  return a.group === b.group && a.resource === b.resource
}
