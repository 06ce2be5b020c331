/**
 * `/healthz`, `/livez`, `/readyz` at the root and under both prefixes, and `/metrics`.
 *
 * Anyone may ask whether we are alive, so an answer says nothing of clusters, and the database is
 * asked at most once a second however many do.
 *
 * @see apiserver/pkg/server/healthz/healthz.go: the words and the order of the lines.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import type { Authorizer } from '../access/authorizer.ts'
import { forbiddenPath } from '../access/forbidden.ts'
import { sendPageNotFound } from '../send-document.ts'
import { onEverySurface } from '../surface.ts'

/** What must hold before work is sent here, beside the database. */
export interface ReadinessCheck {
  readonly name: string
  /** Why it does not hold, in a sentence that anybody may read; undefined while it holds. */
  readonly trouble: () => string | undefined
  /** True: work may be sent here all the same. Told by `?verbose` and by the check's own path. */
  readonly advisory?: true
}

export interface HealthOptions {
  /** Rejects when the database does not answer. */
  readonly pingDatabase: () => Promise<unknown>
  /** True from the moment the server no longer wants new work. */
  readonly isStopping: () => boolean
  readonly readiness?: readonly ReadinessCheck[]
  /** A prom-client Registry. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
  /** Whether someone may read /metrics: they tell of all clusters, whoever asks. */
  readonly authorize: Authorizer
  readonly log: Logger
  readonly clock: Clock
}

interface Check {
  readonly name: string
  /** Rejects when it fails; why is logged, and told only of {@link NotReady}. */
  readonly run: () => Promise<unknown>
  readonly advisory?: true
}

class NotReady extends Error {}

function checkOf({ name, trouble, advisory }: ReadinessCheck): Check {
  return {
    name,
    ...(advisory && { advisory }),
    run: async () => {
      const why = trouble()
      if (why !== undefined) throw new NotReady(why)
    },
  }
}

const DATABASE_ANSWERS_SECONDS = 2
const DATABASE_ASKED_SECONDS = 1

/** Fastify plugin. */
export async function health(server: FastifyInstance, options: HealthOptions): Promise<void> {
  const alive: Check = { name: 'ping', run: async () => undefined }
  const ping = atMostOnceASecond(options)
  const database: Check = {
    name: 'database',
    run: () =>
      ping().catch((error: unknown) => {
        throw new NotReady('it does not answer', { cause: error })
      }),
  }
  const shutdown: Check = {
    name: 'shutdown',
    run: async () => {
      if (options.isStopping()) throw new Error('the server is stopping')
    },
  }
  const endpoints: Readonly<Record<string, readonly Check[]>> = {
    healthz: [alive],
    livez: [alive],
    readyz: [alive, database, ...(options.readiness ?? []).map(checkOf), shutdown],
  }
  await onEverySurface(server, (routes) => {
    for (const [name, checks] of Object.entries(endpoints)) {
      const endpoint = { name, checks, log: options.log }
      routes.get(`/${name}`, (request, reply) => answerAll({ request, reply }, endpoint))
      routes.get(`/${name}/:check`, (request, reply) => answerOne({ request, reply }, endpoint))
    }
  })
  server.get('/metrics', async (request, reply) => {
    const { metrics, authorize } = options
    const asked = { verb: 'get', path: '/metrics' }
    const { allowed, reason } = await authorize(request.identity, asked)
    if (!allowed) throw forbiddenPath(request.identity, asked, reason)
    return reply.header('Content-Type', metrics.contentType).send(await metrics.metrics())
  })
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface Endpoint {
  readonly name: string
  readonly checks: readonly Check[]
  readonly log: Logger
}

async function answerAll(
  { request, reply }: Exchange,
  { name, checks, log }: Endpoint,
): Promise<FastifyReply> {
  const { verbose, exclude } = request.query as Readonly<Record<string, string | string[]>>
  const excluded = new Set([exclude ?? []].flat())
  let failed = false
  const lines: string[] = []
  for (const check of checks) {
    if (excluded.has(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      continue
    }
    const why = await whyNot(check, log)
    failed ||= why !== undefined && !check.advisory
    lines.push(lineOf(check, why))
  }
  const report = `${lines.join('\n')}\n${name} check ${failed ? 'failed' : 'passed'}\n`
  return sendText(reply.code(failed ? 500 : 200), failed || verbose !== undefined ? report : 'ok')
}

function lineOf({ name, advisory }: Check, why: string | undefined): string {
  if (why === undefined) return `[+]${name} ok`
  return advisory ? `[+]${name} not used: ${why}` : `[-]${name} failed: ${why}`
}

async function answerOne(
  { request, reply }: Exchange,
  { checks, log }: Endpoint,
): Promise<FastifyReply> {
  const { check: name } = request.params as { readonly check: string }
  const check = checks.find((each) => each.name === name)
  if (!check) return sendPageNotFound(reply)
  const why = await whyNot(check, log)
  if (why === undefined) return sendText(reply, 'ok')
  return sendText(reply.code(500), `internal server error: ${name}: ${why}\n`)
}

/** @returns undefined when the check holds. */
async function whyNot({ name, run }: Check, log: Logger): Promise<string | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    log.warn({ err: error, check: name }, 'health check failed')
    return error instanceof NotReady ? error.message : 'reason withheld'
  }
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .header('Content-Type', 'text/plain; charset=utf-8')
    .header('Cache-Control', 'no-cache, private')
    .header('X-Content-Type-Options', 'nosniff')
    .send(text)
}

/** Those that ask while an answer is fresh, or on its way, share it. */
function atMostOnceASecond({ pingDatabase, clock }: HealthOptions): () => Promise<unknown> {
  let asked: { readonly at: number; readonly answer: Promise<unknown> } | undefined
  return () => {
    const now = clock.now()
    if (!asked || now - asked.at >= DATABASE_ASKED_SECONDS * 1000) {
      asked = { at: now, answer: inTime(pingDatabase()) }
    }
    return asked.answer
  }
}

async function inTime(answer: Promise<unknown>): Promise<unknown> {
  const late = new AbortController()
  const limit = delay(DATABASE_ANSWERS_SECONDS * 1000, undefined, { signal: late.signal }).then(
    () => {
      throw new Error(`the database did not answer within ${DATABASE_ANSWERS_SECONDS} s`)
    },
  )
  try {
    return await Promise.race([answer, limit])
  } finally {
    late.abort()
    limit.catch(() => undefined)
  }
}
