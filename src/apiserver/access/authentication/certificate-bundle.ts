/**
 * CAs whose client certificates count, and whether a peer's certificate leads to one of them.
 *
 * TLS only proves that the peer holds the key of its certificate. Who issued it is checked here, at
 * each request: the CAs of the aggregator and those of users must not be mixed up, both change while
 * connections stay open, and a certificate may expire on one. What is not understood is refused.
 *
 * @see Go's crypto/x509, Certificate.Verify: the rules, but for name constraints, which are refused
 */
import 'reflect-metadata' // @peculiar/x509 does not load without it.
import { X509Certificate } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** What a client presented, its own certificate first. */
export type PeerChain = readonly [X509Certificate, ...X509Certificate[]]

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const MOST_INTERMEDIATES = 5

const KEY_USAGE = '2.5.29.15'
const BASIC_CONSTRAINTS = '2.5.29.19'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
const UNDERSTOOD = new Set([
  KEY_USAGE,
  BASIC_CONSTRAINTS,
  EXTENDED_KEY_USAGE,
  SUBJECT_ALTERNATIVE_NAME,
])
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'
/** `sha1WithRSAEncryption`, `ecdsa-with-SHA1` …: such signatures can be forged. */
const BROKEN_DIGEST = /sha1(?!\d)|md5/i

export class CertificateBundle {
  readonly pem: string
  readonly #roots: readonly X509Certificate[]
  /** Paths that were found; when they hold is asked each time. */
  readonly #paths = new WeakMap<X509Certificate, readonly X509Certificate[] | 'none'>()

  /** @throws Error when it holds no certificate, or one that cannot be read. */
  constructor(pem: string) {
    this.pem = pem
    this.#roots = (pem.match(PEM) ?? []).map((text) => new X509Certificate(text))
    if (this.#roots.length === 0) throw new Error('no certificate in PEM form')
  }

  /** Is it a client certificate that one of these CAs stands for, now? */
  trusts(chain: PeerChain, nowMilliseconds: number): boolean {
    const [leaf] = chain
    const path = this.#paths.get(leaf) ?? this.#findPath(chain) ?? 'none'
    this.#paths.set(leaf, path)
    return path !== 'none' && path.every((certificate) => isValidAt(certificate, nowMilliseconds))
  }

  #findPath([leaf, ...others]: PeerChain): readonly X509Certificate[] | undefined {
    if (!isForClients(leaf) || !isUnderstood(leaf)) return undefined
    return this.#pathFrom(leaf, others.slice(0, MOST_INTERMEDIATES), [leaf])
  }

  /** The certificates from the leaf to a CA of ours. */
  #pathFrom(
    certificate: X509Certificate,
    intermediates: readonly X509Certificate[],
    below: readonly X509Certificate[],
  ): readonly X509Certificate[] | undefined {
    const issues = (issuer: X509Certificate) =>
      mayIssue(issuer, below) && signed(certificate, issuer)
    const root = this.#roots.find(issues)
    if (root) return [...below, root]
    for (const issuer of intermediates.filter(issues)) {
      const others = intermediates.filter((other) => other !== issuer)
      const path = this.#pathFrom(issuer, others, [...below, issuer])
      if (path) return path
    }
    return undefined
  }
}

function isValidAt({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}

/** One that says nothing about its use may be used for all. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages: readonly string[] | undefined = keyUsage
  return (
    usages === undefined || usages.some((usage) => usage === CLIENT_AUTH || usage === ANY_USAGE)
  )
}

/** Names and key identifiers fit, the issuer may sign certificates, and the signature is its own. */
function signed(certificate: X509Certificate, issuer: X509Certificate): boolean {
  if (BROKEN_DIGEST.test(certificate.signatureAlgorithm ?? '')) return false
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  } catch {
    return false // Keys of another kind than the signature.
  }
}

function mayIssue(issuer: X509Certificate, below: readonly X509Certificate[]): boolean {
  if (!issuer.ca || !isForClients(issuer) || !isUnderstood(issuer)) return false
  const { pathLength } = parsed(issuer).getExtension(x509.BasicConstraintsExtension) ?? {}
  // The leaf is no intermediate.
  return pathLength === undefined || below.length - 1 <= pathLength
}

function isUnderstood(certificate: X509Certificate): boolean {
  return parsed(certificate).extensions.every(
    ({ critical, type }) => !critical || UNDERSTOOD.has(type),
  )
}

function parsed({ raw }: X509Certificate): x509.X509Certificate {
  return new x509.X509Certificate(raw)
}
