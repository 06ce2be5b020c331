/** Certificates of one simulated member: its own CA, the server's, and a client's to register by. */
import 'reflect-metadata' // @peculiar/x509 does not load without it.
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

export interface DemoPki {
  /** All PEM. */
  readonly ca: string
  readonly server: { readonly cert: string; readonly key: string }
  readonly client: { readonly cert: string; readonly key: string }
}

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MILLISECONDS = 24 * 3600 * 1000

/** Made anew at every start; nothing is written anywhere. */
export async function createDemoPki(of: {
  readonly name: string
  readonly clientName: string
  readonly now: number
}): Promise<DemoPki> {
  // A day back: whoever reads it may have a clock that is behind.
  const validity = {
    notBefore: new Date(of.now - DAY_MILLISECONDS),
    notAfter: new Date(of.now + 365 * DAY_MILLISECONDS),
  }
  const keys = await newKeys()
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: [{ CN: [`${of.name} CA`] }],
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  })
  const issue = async (subject: string, extensions: x509.Extension[]) => {
    const own = await newKeys()
    const cert = await x509.X509CertificateGenerator.create({
      ...validity,
      subject: [{ CN: [subject] }],
      issuer: ca.subjectName,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: SIGNING,
      extensions,
    })
    return { cert: cert.toString('pem'), key: await privatePem(own.privateKey) }
  }
  return {
    ca: ca.toString('pem'),
    server: await issue(of.name, [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'localhost' },
      ]),
    ]),
    client: await issue(of.clientName, [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ]),
  }
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  const der = await webcrypto.subtle.exportKey('pkcs8', key)
  return x509.PemConverter.encode(der, 'PRIVATE KEY')
}
