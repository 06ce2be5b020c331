/** Certificates for tests of TLS: a CA, and what it issues to whoever is named. */
import 'reflect-metadata' // @peculiar/x509 does not load without it.
import { webcrypto } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY = 24 * 3_600_000

interface Pair {
  readonly name: string
  readonly keys: webcrypto.CryptoKeyPair
}

/**
 * Makes, in a folder: a CA (`ca`), what it issues to a server and to clients, and a client of a CA
 * that nobody knows (`forged`). `NAME.crt` and `NAME.key`, in PEM.
 */
export async function makeCertificates(folder: string): Promise<void> {
  const ca = await makeCertificate(folder, { file: 'ca', name: 'CN=ca' })
  const stranger = await makeCertificate(folder, { file: 'stranger', name: 'CN=ca' })
  const issued: ReadonlyArray<readonly [file: string, name: string, issuer: Pair]> = [
    ['server', 'CN=localhost', ca],
    ['admin', 'O=system:masters, O=ops, CN=admin', ca],
    ['alone', 'CN=alone', ca],
    ['nameless', 'O=system:masters', ca],
    ['forged', 'O=system:masters, CN=admin', stranger],
  ]
  for (const [file, name, issuer] of issued) await makeCertificate(folder, { file, name, issuer })
}

async function makeCertificate(
  folder: string,
  { file, name, issuer }: { file: string; name: string; issuer?: Pair },
): Promise<Pair> {
  const keys = await webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])
  const cert = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: issuer?.name ?? name,
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: SIGNING,
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + DAY),
    extensions: [
      new x509.BasicConstraintsExtension(!issuer, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  writeFileSync(join(folder, `${file}.crt`), cert.toString('pem'))
  writeFileSync(join(folder, `${file}.key`), x509.PemConverter.encode(key, 'PRIVATE KEY'))
  return { name, keys }
}
