/**
 * One process of many does something: whoever holds a Lease of the management cluster.
 *
 * The rules are client-go's: who leads renews every two seconds, and steps down by itself when it
 * could not for ten; the others take a Lease that has not changed for fifteen, by their own clock.
 *
 * @see client-go/tools/leaderelection/leaderelection.go
 */
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import { messageOf } from '../kube/message-of.ts'
import type { Logger } from '../log.ts'
import { field, isObject } from '../registration/json-text.ts'
import type { ManagementClient } from './client.ts'
import { hasStatus, orMissing } from './management-error.ts'

export interface LeadOptions {
  readonly client: ManagementClient
  /** Of the Lease, in the client's namespace. */
  readonly name: string
  /** Of this process, unique among those that want to lead. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Logger
}

export interface Leadership {
  /** Aborted when it is lost, or the process stops. */
  readonly signal: AbortSignal
  /** False from the moment another may have begun: ask before what must not be done twice. */
  isHeld(): boolean
}

export interface Candidate {
  /** Why it can neither lead nor know who does; undefined while it does. */
  readonly trouble: string | undefined
  /** Gives the Lease back, once the work has ended. */
  stop(): Promise<void>
}

const LEASE_SECONDS = 15
const RENEW_DEADLINE_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 2_000

/** Runs `work` whenever this process leads. It ends when its signal is aborted, and is not to end before. */
export function stand(
  options: LeadOptions,
  work: (leadership: Leadership) => Promise<void>,
): Candidate {
  const stopping = new AbortController()
  const election = new Election(options)
  const running = election.run(work, stopping.signal)
  return {
    get trouble() {
      return election.trouble
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

class Election {
  trouble: string | undefined = 'the Lease was not read yet'
  readonly #options: LeadOptions
  /** The record as it was seen last, and when it was first seen like that. */
  #observed = ''
  #observedAt = 0
  #renewedAt: number | undefined

  constructor(options: LeadOptions) {
    this.#options = options
  }

  async run(work: (leadership: Leadership) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.#tryToHold(signal)) await this.#lead(work, signal)
      else await this.#pause(signal)
    }
  }

  async #lead(work: (leadership: Leadership) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { log, identity, name } = this.#options
    const lost = new AbortController()
    const all = AbortSignal.any([signal, lost.signal])
    log.info({ lease: name, identity }, 'this process leads')
    const working = work({ signal: all, isHeld: () => this.#isHeld() && !all.aborted })
    const failed = working.catch((error: unknown) => log.error({ err: error }, 'leading failed'))
    while (!signal.aborted && this.#isHeld()) {
      await this.#pause(signal)
      if (!signal.aborted && !(await this.#tryToHold(signal)) && this.#isTaken()) break
    }
    lost.abort()
    await failed
    if (signal.aborted) await this.#release()
    else log.warn({ lease: name, identity }, 'this process does not lead any more')
    this.#renewedAt = undefined
  }

  #isHeld(): boolean {
    if (this.#renewedAt === undefined) return false
    return this.#options.clock.now() - this.#renewedAt < RENEW_DEADLINE_MILLISECONDS
  }

  #isTaken(): boolean {
    return this.#renewedAt === undefined
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(RETRY_MILLISECONDS, signal).catch(() => undefined)
  }

  /** @returns whether the Lease is ours, as of now. */
  async #tryToHold(signal: AbortSignal): Promise<boolean> {
    const startedAt = this.#options.clock.now()
    try {
      const held = await this.#acquireOrRenew(signal)
      this.trouble = undefined
      this.#renewedAt = held ? startedAt : undefined
      return held
    } catch (error) {
      if (signal.aborted) return false
      // Another was faster: it is read again.
      if (hasStatus(error, 409)) return false
      const message = messageOf(error)
      if (message !== this.trouble) this.#options.log.warn({ err: error }, 'no Lease')
      this.trouble = message
      return false
    }
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, name, identity, clock } = this.#options
    const lease = await this.#read(signal)
    const now = clock.now()
    if (!lease) {
      const spec = this.#record({ acquiredAt: microTime(now), transitions: 0 })
      const body = { ...LEASE, metadata: { name, namespace: client.namespace }, spec }
      await client.request('POST', this.#collection, { body, signal })
      return true
    }
    const spec = field(lease, 'spec')
    const holder = String(field(spec, 'holderIdentity') ?? '')
    this.#observe(JSON.stringify(spec ?? null), now)
    const seconds = Number(field(spec, 'leaseDurationSeconds') ?? LEASE_SECONDS)
    const isFresh = this.#observedAt + seconds * 1000 > now
    if (holder !== '' && holder !== identity && isFresh) return false
    const transitions = Number(field(spec, 'leaseTransitions') ?? 0)
    const next =
      holder === identity
        ? this.#record({ acquiredAt: field(spec, 'acquireTime'), transitions })
        : this.#record({ acquiredAt: microTime(now), transitions: transitions + 1 })
    // With the resourceVersion that was read: of two that write, one gets a 409.
    const body = { ...lease, spec: { ...(isObject(spec) && spec), ...next } }
    await client.request('PUT', `${this.#collection}/${name}`, { body, signal })
    return true
  }

  #observe(record: string, now: number): void {
    if (record === this.#observed) return
    this.#observed = record
    this.#observedAt = now
  }

  #record({ acquiredAt, transitions }: { acquiredAt: unknown; transitions: number }) {
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: LEASE_SECONDS,
      acquireTime: acquiredAt,
      renewTime: microTime(this.#options.clock.now()),
      leaseTransitions: transitions,
    }
  }

  async #read(signal?: AbortSignal): Promise<JsonObject | undefined> {
    const { client, name } = this.#options
    const path = `${this.#collection}/${name}`
    const answer = await orMissing(client.request('GET', path, { ...(signal && { signal }) }))
    return answer?.body as JsonObject | undefined
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#options.client.namespace}/leases`
  }

  /** So that the next one need not wait. Best effort: a Lease that is not given back runs out. */
  async #release(): Promise<void> {
    const { client, name, identity, clock, log } = this.#options
    try {
      const lease = await this.#read()
      const spec = lease && field(lease, 'spec')
      if (!lease || !isObject(spec) || spec.holderIdentity !== identity) return
      const now = microTime(clock.now())
      const free = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now }
      const body = { ...lease, spec: { ...spec, ...free } }
      await client.request('PUT', `${this.#collection}/${name}`, { body })
    } catch (error) {
      log.debug({ err: error }, 'the Lease was not given back')
    }
  }
}

const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }

/** Kubernetes' MicroTime. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z')
}
