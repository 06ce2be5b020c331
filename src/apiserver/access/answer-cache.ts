/**
 * Answers about a secret such as a token, kept for a moment.
 *
 * Those that ask the same at the same time share one question. A failure to get an answer is kept
 * for nobody. Keys are digests, so that no token lies in memory longer than its request.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'

const ANSWERS_KEPT = 10_000

export interface AnswerCacheOptions<Answer> {
  readonly lifetimeMilliseconds: number
  /** Left out: every answer is kept. */
  readonly isKept?: (answer: Answer) => boolean
}

export class AnswerCache<Answer> {
  readonly #clock: Clock
  readonly #options: AnswerCacheOptions<Answer>
  readonly #secret = randomBytes(32)
  readonly #answers = new Map<string, { readonly answer: Answer; readonly until: number }>()
  readonly #asked = new Map<string, Promise<Answer>>()

  constructor(clock: Clock, options: AnswerCacheOptions<Answer>) {
    this.#clock = clock
    this.#options = options
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
      const { lifetimeMilliseconds, isKept } = this.#options
      this.#answers.delete(key)
      if (isKept && !isKept(answer)) return answer
      if (this.#answers.size >= ANSWERS_KEPT) this.#dropOldest()
      this.#answers.set(key, { answer, until: this.#clock.now() + lifetimeMilliseconds })
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
