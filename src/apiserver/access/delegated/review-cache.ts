/**
 * Answers of another server, kept for a moment.
 *
 * Those that ask the same at the same time share one question. A failure to get an answer is kept
 * for nobody. Keys are digests, so that no token lies in memory longer than its request.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../../clock.ts'

const ANSWERS_KEPT = 10_000

export class ReviewCache<Answer> {
  readonly #clock: Clock
  readonly #lifetimeMilliseconds: number
  readonly #secret = randomBytes(32)
  readonly #answers = new Map<string, { readonly answer: Answer; readonly until: number }>()
  readonly #asked = new Map<string, Promise<Answer>>()

  constructor(clock: Clock, lifetimeMilliseconds: number) {
    this.#clock = clock
    this.#lifetimeMilliseconds = lifetimeMilliseconds
  }

  /** @param question - tells one question from another. */
  get(question: string, ask: () => Promise<Answer>): Promise<Answer> | Answer {
    const key = createHmac('sha256', this.#secret).update(question).digest('base64')
    const known = this.#answers.get(key)
    if (known && known.until > this.#clock.now()) return known.answer
    const asked = this.#asked.get(key) ?? this.#ask(key, ask)
    this.#asked.set(key, asked)
    return asked
  }

  async #ask(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await ask()
      this.#answers.delete(key)
      if (this.#answers.size >= ANSWERS_KEPT) this.#dropOldest()
      this.#answers.set(key, { answer, until: this.#clock.now() + this.#lifetimeMilliseconds })
      return answer
    } finally {
      this.#asked.delete(key)
    }
  }

  /** All live equally long, so the first to come is the first to go. */
  #dropOldest(): void {
    for (const key of this.#answers.keys()) {
      this.#answers.delete(key)
      return
    }
  }
}
