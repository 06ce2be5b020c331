/**
 * What is counted of questions to the management API server, under the names that every extension
 * API server has for them.
 *
 * @see apiserver/pkg/authentication/authenticatorfactory/metrics.go,
 *   apiserver/pkg/authorization/authorizerfactory/metrics.go
 */
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Review } from './post-review.ts'

const NAMES: Readonly<Record<Review['kind'], string>> = {
  TokenReview: 'apiserver_delegated_authn_request',
  SubjectAccessReview: 'apiserver_delegated_authz_request',
}

export class ReviewMetrics {
  readonly #of: Readonly<Record<Review['kind'], ReturnType<typeof register>>>

  constructor(registry: Registry) {
    this.#of = {
      TokenReview: register([registry], 'TokenReview'),
      SubjectAccessReview: register([registry], 'SubjectAccessReview'),
    }
  }

  /** @param code - of the answer; undefined when there was none. */
  asked(kind: Review['kind'], code: number | undefined, seconds: number): void {
    const labels = { code: code === undefined ? '<error>' : String(code) }
    this.#of[kind].total.inc(labels)
    this.#of[kind].duration.observe(labels, seconds)
  }
}

function register(registers: Registry[], kind: Review['kind']) {
  const common = { labelNames: ['code'] as const, registers }
  return {
    total: new Counter({
      ...{ name: `${NAMES[kind]}_total`, help: `${kind}s posted, by HTTP code` },
      ...common,
    }),
    duration: new Histogram({
      ...{ name: `${NAMES[kind]}_duration_seconds`, help: `how long answers to ${kind}s took` },
      buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
      ...common,
    }),
  }
}
