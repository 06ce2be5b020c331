/**
 * Bounds what all queues of a process hold together, whatever each of them may.
 *
 * When it is full, room goes to the cluster that holds least: one that sends more than can be written
 * waits for its own, and not the others for it.
 */

/** The part of one cluster: as large as the others leave it. */
export interface BudgetShare {
  /** Waits until there is room. What is larger than the whole budget goes in alone. */
  take(bytes: number, signal: AbortSignal): Promise<void>
  give(bytes: number): void
}

interface Waiting {
  readonly bytes: number
  readonly cluster: string
  readonly enter: () => void
}

export class ByteBudget {
  readonly #total: number
  #used = 0
  readonly #usedBy = new Map<string, number>()
  readonly #waiting: Waiting[] = []

  constructor(totalBytes: number) {
    this.#total = totalBytes
  }

  get usedBytes(): number {
    return this.#used
  }

  shareOf(cluster: string): BudgetShare {
    return {
      take: (bytes, signal) => this.#take(bytes, cluster, signal),
      give: (bytes) => {
        this.#use(cluster, -bytes)
        this.#admit()
      },
    }
  }

  async #take(bytes: number, cluster: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#use(cluster, bytes)
      return
    }
    await new Promise<void>((resolve, reject) => {
      const one = {
        bytes,
        cluster,
        enter: () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      const giveUp = () => {
        this.#remove(one)
        this.#admit()
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(one)
      // It may be first, although it came last.
      this.#admit()
    })
  }

  /** One that does not fit yet is not overtaken: it would wait for ever for room that others take. */
  #admit(): void {
    for (let next = this.#neediest(); next && this.#fits(next.bytes); next = this.#neediest()) {
      this.#remove(next)
      this.#use(next.cluster, next.bytes)
      next.enter()
    }
  }

  /** Of the cluster that holds least; among equals who came first. */
  #neediest(): Waiting | undefined {
    const held = ({ cluster }: Waiting) => this.#usedBy.get(cluster) ?? 0
    return this.#waiting.reduce<Waiting | undefined>(
      (least, one) => (least && held(least) <= held(one) ? least : one),
      undefined,
    )
  }

  #remove(one: Waiting): void {
    const at = this.#waiting.indexOf(one)
    if (at >= 0) this.#waiting.splice(at, 1)
  }

  #use(cluster: string, bytes: number): void {
    this.#used += bytes
    const held = (this.#usedBy.get(cluster) ?? 0) + bytes
    if (held > 0) this.#usedBy.set(cluster, held)
    else this.#usedBy.delete(cluster)
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#total
  }
}
