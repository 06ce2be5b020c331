/**
 * No credential of a member is ever told: in the log of syncers, in conditions, in Events, nor in
 * the clear in our database, wherever somebody has put it, and whatever the member does with it.
 */
import { Writable } from 'node:stream'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendReply, statusReply } from '../../src/demo/member/reply.ts'
import type { PediaCluster, PediaClusterSpec } from '../../src/kube/pedia-cluster.ts'
import { StatusError, toStatus } from '../../src/kube/status-error.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { until } from '../support/until.ts'
import {
  base64,
  CLUSTERS,
  EVENTS,
  type ManagedFleet,
  MERGE,
  managedFleet,
  SECRETS,
} from './managed-fleet.ts'

const SAMPLES = 3
const DATABASE = 'our database'
const PATIENCE = 30_000
const said: string[] = []
let fleet: ManagedFleet
/** Repeats to whoever asks what they have shown. */
let talkative: MemberCluster

beforeAll(async () => {
  talkative = await startMemberCluster({ tokens: { unused: 'reader' } })
  talkative.server.intercept(async ({ response, output }) => {
    const message = `I have seen ${response.req.headers.authorization}`
    const status = toStatus(new StatusError('InternalError', message))
    sendReply(statusReply(status), { output, acceptEncoding: '' })
    return true
  })
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk))
      done()
    },
  })
  fleet = await managedFleet({ log: pino({ level: 'debug', base: null }, stream) })
}, 120_000)

afterAll(async () => {
  await fleet.stop()
  await talkative.stop()
})

type User = Readonly<Record<string, unknown>>

const kubeconfig = (user: User, cluster: object = { server: 'https://127.0.0.1:1' }) =>
  base64(
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
    }),
  )
const nowhere = { apiserver: 'https://127.0.0.1:1' }
const key = (secret: string) =>
  base64(`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`)

/** Where somebody puts a secret, rightly or not. */
const PLACES: Readonly<Record<string, (secret: string) => PediaClusterSpec>> = {
  token: (secret) => ({ ...nowhere, tokenData: base64(secret) }),
  'token-that-is-repeated': (secret) => ({ apiserver: talkative.url, tokenData: base64(secret) }),
  'token-of-several-lines': (secret) => ({ ...nowhere, tokenData: base64(`${secret}\n${secret}`) }),
  'key-that-is-none': (secret) => ({ ...nowhere, certData: key('x'), keyData: key(secret) }),
  'key-alone': (secret) => ({ ...nowhere, keyData: key(secret) }),
  'ca-that-is-a-key': (secret) => ({ ...nowhere, caData: key(misplaced(secret)) }),
  'kubeconfig-token': (secret) => ({ kubeconfig: kubeconfig({ token: secret }) }),
  'kubeconfig-password': (secret) => ({
    kubeconfig: kubeconfig({ username: 'me', password: secret }, { server: talkative.url }),
  }),
  'kubeconfig-key': (secret) => ({ kubeconfig: kubeconfig({ 'client-key-data': key(secret) }) }),
  'kubeconfig-exec': (secret) => ({
    kubeconfig: kubeconfig({ exec: { command: 'login', args: ['--password', secret] } }),
  }),
  'kubeconfig-no-yaml': (secret) => ({ kubeconfig: base64(`users: [\n  token: ${secret}\n`) }),
  'kubeconfig-of-another-shape': (secret) => ({ kubeconfig: base64(`[${secret}]`) }),
  'url-password': (secret) => ({ apiserver: `https://me:${misplaced(secret)}@127.0.0.1:1` }),
  'url-query': (secret) => ({ apiserver: `https://127.0.0.1:1/?token=${misplaced(secret)}` }),
}
/** Another: a URL and a CA are no secrets to our database, where they stand as in the spec. */
const misplaced = (secret: string) => `misplaced-${[...secret].reverse().join('')}`
const SECRET_PLACES = ['token', 'kubeconfig', 'key', 'ca'] as const

/** Each in a Secret of its own, which authenticationFrom names. */
async function registerBySecret(field: (typeof SECRET_PLACES)[number], secret: string, i: number) {
  const name = `secret-${field}-${i}`
  const texts = {
    kubeconfig: `token: [${secret}`,
    ca: misplaced(secret),
    token: secret,
    key: secret,
  }
  const value = texts[field]
  await fleet.putSecret(name, { value })
  const from = { [field]: { name, key: 'value' } }
  await fleet.register(name, {
    ...(field === 'kubeconfig' ? {} : nowhere),
    authenticationFrom: from,
  })
  return name
}

/** It was tried, or refused. */
async function isJudged(name: string): Promise<boolean> {
  const { status } = await fleet.get(name)
  const reasons = (status?.conditions ?? []).map(({ reason }) => reason)
  return ['InvalidConfig', 'NotReachable', 'Unhealthy'].some((one) => reasons.includes(one))
}

test('credentials are told nowhere', { timeout: 120_000 }, async () => {
  const secrets = fc.sample(fc.stringMatching(/^[A-Za-z0-9_-]{24,40}$/), {
    numRuns: SAMPLES,
    seed: Date.now(),
  })
  const names: string[] = []
  for (const [i, secret] of secrets.entries()) {
    for (const [place, specOf] of Object.entries(PLACES)) {
      await fleet.register(`${place}-${i}`, specOf(secret))
      names.push(`${place}-${i}`)
    }
    for (const field of SECRET_PLACES) names.push(await registerBySecret(field, secret, i))
  }
  for (const name of names) await until(() => isJudged(name), PATIENCE)
  // A change of one is told, too.
  for (const [i, secret] of secrets.entries()) {
    const body = { spec: { tokenData: base64(`${secret}${secret}`) } }
    await fleet.ask('PATCH', `${CLUSTERS}/token-that-is-repeated-${i}`, { ...MERGE, body })
    await fleet.putSecret(`secret-token-${i}`, { value: `${secret}${secret}` })
  }
  await until(async () => (await fleet.events('key-alone-0')).length > 0)
  expect(said.length).toBeGreaterThan(0)
  const told = await everythingTold()
  for (const secret of secrets) {
    const encoded = base64(secret).replace(/=+$/, '').slice(0, -1)
    for (const [where, text] of told) {
      const forms = where === DATABASE ? [secret, encoded] : [secret, encoded, misplaced(secret)]
      for (const form of forms) expect([where, around(text, form)]).toEqual([where, ''])
    }
  }
})

/** Where it stands, for whoever mends it. */
function around(text: string, form: string): string {
  const at = text.indexOf(form)
  return at < 0 ? '' : text.slice(Math.max(0, at - 200), at + form.length)
}

/** But for the specs and Secrets of the management cluster itself, where they are meant to stand. */
async function everythingTold(): Promise<ReadonlyArray<readonly [string, string]>> {
  const { items } = await fleet.ask<{ items: readonly PediaCluster[] }>('GET', CLUSTERS)
  const rows = await fleet.query<{ text: string }>(
    `select object as text from registration union all select object from registration_event
     union all select coalesce(stale_reason, '') from cluster`,
  )
  return [
    ['the log', said.join('')],
    ['statuses', JSON.stringify(items.map(({ status }) => status))],
    ['Events', JSON.stringify(await fleet.ask('GET', EVENTS))],
    [DATABASE, rows.map(({ text }) => text).join('\n')],
  ]
}

test('what is looked for would be found', async () => {
  const { items } = await fleet.ask<{ items: readonly object[] }>('GET', SECRETS)
  expect(items.length).toBeGreaterThanOrEqual(SAMPLES * SECRET_PLACES.length)
  const judged = await fleet.get('token-that-is-repeated-0')
  expect(JSON.stringify(judged.status)).toContain('I have seen')
})
