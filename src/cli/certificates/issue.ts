/** Makes CAs and the certificates they sign: EC P-256, SHA-256, in PEM. */
import 'reflect-metadata' // @peculiar/x509 does not load without it.
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import * as x509 from '@peculiar/x509'

export interface KeyPair {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

const DAY = 24 * 3600 * 1000
/** A clock that is a little behind ours must not find a certificate that is not valid yet. */
const BACKDATED = 3600 * 1000
const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

export interface Validity {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly days: number
}

/** A self-signed CA, whose name is unlike that of any other. */
export async function newAuthority(valid: Validity): Promise<KeyPair> {
  const keys = await newKeys()
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(valid),
    name: [{ CN: [`fleetglass CA ${randomBytes(4).toString('hex')}`] }],
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return toPem({ cert, key: keys.privateKey })
}

export interface CertificateRequest extends Validity {
  readonly authority: KeyPair
  readonly subject: x509.JsonName
  /** Host names and addresses. They make it a server's certificate; without, it is a client's. */
  readonly names?: readonly string[]
}

export async function issueCertificate(request: CertificateRequest): Promise<KeyPair> {
  const { authority, subject, names } = request
  const issuer = new x509.X509Certificate(authority.cert)
  const keys = await newKeys()
  const usage = names ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth
  const alternatives = (names ?? []).map((value) => ({
    type: isIP(value) ? ('ip' as const) : ('dns' as const),
    value,
  }))
  const cert = await x509.X509CertificateGenerator.create({
    ...validity(request),
    subject,
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(authority),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...(names ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
    ],
  })
  return toPem({ cert, key: keys.privateKey })
}

function validity({ now, days }: Validity) {
  return {
    serialNumber: `00${randomBytes(15).toString('hex')}`,
    notBefore: new Date(now - BACKDATED),
    notAfter: new Date(now + days * DAY),
  }
}

/** Valid now, and for more than these days. */
export function isValidFor({ cert }: KeyPair, { now, days }: Validity): boolean {
  const { notBefore, notAfter } = new x509.X509Certificate(cert)
  return notBefore.getTime() <= now && notAfter.getTime() - now > days * DAY
}

/** True when this CA signed it, and not one of the same name. */
export function isSignedBy({ cert }: KeyPair, authority: KeyPair): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(authority.cert).publicKey)
}

export function hasNames({ cert }: KeyPair, wanted: readonly string[]): boolean {
  const found = new x509.X509Certificate(cert).getExtension(x509.SubjectAlternativeNameExtension)
  const names = found?.names.items.map(({ value }) => canonicalAddress(value)) ?? []
  return wanted.every((name) => names.includes(canonicalAddress(name)))
}

/** `::1` and `0:0:0:0:0:0:0:1` are the same address. */
function canonicalAddress(name: string): string {
  return isIP(name) === 6 ? new URL(`http://[${name}]`).hostname : name
}

/** Not after a crash between writing the key and the certificate, or when one was overwritten. */
export function belongTogether({ cert, key }: KeyPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false // One of them is no PEM at all.
  }
}

async function newKeys() {
  return webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])
}

async function signingKeyOf({ key }: KeyPair): Promise<webcrypto.CryptoKey> {
  const der = x509.PemConverter.decodeFirst(key)
  return webcrypto.subtle.importKey('pkcs8', der, SIGNING, false, ['sign'])
}

async function toPem({
  cert,
  key,
}: {
  readonly cert: x509.X509Certificate
  readonly key: webcrypto.CryptoKey
}): Promise<KeyPair> {
  const der = await webcrypto.subtle.exportKey('pkcs8', key)
  return {
    cert: `${cert.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n`,
  }
}
