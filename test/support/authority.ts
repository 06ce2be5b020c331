/** CAs in memory, and certificates of every kind that one may be shown. */
import 'reflect-metadata' // @peculiar/x509 does not load without it.
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY = 24 * 3_600_000

export interface Issue {
  /** `CN=jane, O=devs` */
  readonly subject: string
  readonly isCa?: boolean
  /** Left out: nothing is said of its use. */
  readonly usage?: 'clientAuth' | 'serverAuth'
  readonly pathLength?: number
  /** Days from now. */
  readonly from?: number
  readonly to?: number
  readonly extensions?: readonly x509.Extension[]
}

/** A certificate with its key; what is issued by it names it as the issuer, CA or not. */
export class Authority {
  /** PEM. */
  readonly cert: string
  readonly key: string
  readonly #subject: string
  readonly #keys: webcrypto.CryptoKeyPair

  private constructor(made: {
    cert: string
    key: string
    subject: string
    keys: webcrypto.CryptoKeyPair
  }) {
    this.cert = made.cert
    this.key = made.key
    this.#subject = made.subject
    this.#keys = made.keys
  }

  static root(subject: string): Promise<Authority> {
    return Authority.#make({ subject, isCa: true }, undefined)
  }

  issue(of: Issue): Promise<Authority> {
    return Authority.#make(of, this)
  }

  static async #make(of: Issue, issuer: Authority | undefined): Promise<Authority> {
    const { subject, isCa = false, usage, pathLength, from = -1, to = 1, extensions = [] } = of
    const keys = await webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])
    const made = await x509.X509CertificateGenerator.create({
      subject,
      issuer: issuer ? issuer.#subject : subject,
      publicKey: keys.publicKey,
      signingKey: (issuer ? issuer.#keys : keys).privateKey,
      signingAlgorithm: SIGNING,
      notBefore: new Date(Date.now() + from * DAY),
      notAfter: new Date(Date.now() + to * DAY),
      extensions: [
        new x509.BasicConstraintsExtension(isCa, pathLength, true),
        ...(usage ? [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]])] : []),
        ...extensions,
      ],
    })
    const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
    const key = x509.PemConverter.encode(der, 'PRIVATE KEY')
    return new Authority({ cert: `${made.toString('pem')}\n`, key, subject, keys })
  }
}

/** What a server at 127.0.0.1 and localhost shows. */
export const FOR_THIS_MACHINE = new x509.SubjectAlternativeNameExtension([
  { type: 'dns', value: 'localhost' },
  { type: 'ip', value: '127.0.0.1' },
])

/** An extension that nobody knows, and that must be known. */
export const UNKNOWN_CRITICAL = new x509.Extension('1.2.3.4.5', true, new Uint8Array([5, 0]))
