/** Which certificates lead to a CA that is trusted. */
import { X509Certificate } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  CertificateBundle,
  type PeerChain,
} from '../../src/apiserver/access/authentication/certificate-bundle.ts'
import { Authority, type Issue, UNKNOWN_CRITICAL } from '../support/authority.ts'

const CLIENT: Issue = { subject: 'CN=jane', usage: 'clientAuth' }
const CA: Issue = { subject: 'CN=between', isCa: true }
const DAY = 24 * 3_600_000

let root: Authority
let bundle: CertificateBundle

beforeAll(async () => {
  root = await Authority.root('CN=root')
  const other = await Authority.root('CN=another')
  bundle = new CertificateBundle(`A bundle of two:\n${other.cert}\n${root.cert}`)
})

function chainOf(...certificates: readonly Authority[]): PeerChain {
  const [leaf, ...others] = certificates.map(({ cert }) => new X509Certificate(cert))
  return [leaf!, ...others]
}

/** The chain that these make, each issued by the one before; the last is the leaf. */
async function chainUnder(first: Authority, ...links: readonly Issue[]): Promise<PeerChain> {
  const made: Authority[] = []
  for (const link of links) made.unshift(await (made[0] ?? first).issue(link))
  return chainOf(...made)
}

const now = () => Date.now()

describe('a certificate is trusted', () => {
  test.each<[string, readonly Issue[]]>([
    ['of the CA itself', [CLIENT]],
    ['that does not say what it is for', [{ subject: 'CN=jane' }]],
    ['by way of a CA that was sent along', [CA, CLIENT]],
    ['by way of two', [{ ...CA, subject: 'CN=upper' }, CA, CLIENT]],
    ['by way of a CA that may issue, but to no CA', [{ ...CA, pathLength: 0 }, CLIENT]],
  ])('%s', async (_name, links) => {
    expect(bundle.trusts(await chainUnder(root, ...links), now())).toBe(true)
  })

  test('in whatever order the others were sent', async () => {
    const upper = await root.issue({ ...CA, subject: 'CN=upper' })
    const lower = await upper.issue(CA)
    const leaf = await lower.issue(CLIENT)
    expect(bundle.trusts(chainOf(leaf, upper, lower), now())).toBe(true)
  })

  test('of a CA that is itself issued by one that is not there', async () => {
    const between = await root.issue(CA)
    const partial = new CertificateBundle(between.cert)
    expect(partial.trusts(chainOf(await between.issue(CLIENT)), now())).toBe(true)
    expect(partial.trusts(chainOf(await root.issue(CLIENT)), now())).toBe(false)
  })
})

describe('a certificate is not trusted', () => {
  test.each<[string, readonly Issue[]]>([
    ['that is for servers', [{ ...CLIENT, usage: 'serverAuth' }]],
    ['that is expired', [{ ...CLIENT, from: -2, to: -1 }]],
    ['that is not valid yet', [{ ...CLIENT, from: 1, to: 2 }]],
    ['by way of a CA that is expired', [{ ...CA, from: -2, to: -1 }, CLIENT]],
    ['that a client issued', [CLIENT, { ...CLIENT, subject: 'CN=admin' }]],
    ['by way of a CA for servers', [{ ...CA, usage: 'serverAuth' }, CLIENT]],
    [
      'by way of a CA that its issuer did not allow',
      [{ ...CA, subject: 'CN=upper', pathLength: 0 }, CA, CLIENT],
    ],
    ['with a constraint that is not understood', [{ ...CLIENT, extensions: [UNKNOWN_CRITICAL] }]],
    ['by way of a CA with such a constraint', [{ ...CA, extensions: [UNKNOWN_CRITICAL] }, CLIENT]],
  ])('%s', async (_name, links) => {
    expect(bundle.trusts(await chainUnder(root, ...links), now())).toBe(false)
  })

  test('of another CA, also one of the same name', async () => {
    const stranger = await Authority.root('CN=stranger')
    expect(bundle.trusts(await chainUnder(stranger, CLIENT), now())).toBe(false)
    const namesake = await Authority.root('CN=root')
    expect(bundle.trusts(await chainUnder(namesake, CLIENT), now())).toBe(false)
    const leaf = await namesake.issue(CLIENT)
    expect(bundle.trusts(chainOf(leaf, namesake), now())).toBe(false)
  })

  test('by way of a CA that was not sent', async () => {
    const between = await root.issue(CA)
    expect(bundle.trusts(chainOf(await between.issue(CLIENT)), now())).toBe(false)
  })

  test('any more once it is expired, on a connection that was open before', async () => {
    const chain = await chainUnder(root, CLIENT)
    expect(bundle.trusts(chain, now())).toBe(true)
    expect(bundle.trusts(chain, now() + 2 * DAY)).toBe(false)
  })
})

test.each(['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
  'what is no bundle of certificates is an error: %j',
  (text) => {
    expect(() => new CertificateBundle(text)).toThrow()
  },
)
