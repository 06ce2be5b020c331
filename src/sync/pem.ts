/** Checks certificates and keys before they are used, so that a mistake names its field. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { InvalidConfig } from './member-access.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** @returns the PEM text. @throws InvalidConfig unless it holds certificates, all of them readable. */
export function checkedCertificates(pem: Buffer, field: string): string {
  const text = pem.toString('utf8')
  const found = text.match(CERTIFICATE)
  if (!found) throw new InvalidConfig(`${field} holds no PEM certificate`)
  for (const one of found) {
    try {
      new X509Certificate(one)
    } catch (error) {
      throw new InvalidConfig(`${field} holds a certificate that cannot be read`, { cause: error })
    }
  }
  return text
}

/** @throws InvalidConfig when the key is none, or not that of the certificate. */
export function checkedKeyPair(
  pair: { readonly cert: Buffer; readonly key: Buffer },
  fields: { readonly cert: string; readonly key: string },
): { cert: string; key: string } {
  const cert = checkedCertificates(pair.cert, fields.cert)
  const key = pair.key.toString('utf8')
  let matches: boolean
  try {
    matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch (error) {
    throw new InvalidConfig(`${fields.key} holds no PEM private key`, { cause: error })
  }
  if (!matches) throw new InvalidConfig(`${fields.key} is not the key of ${fields.cert}`)
  return { cert, key }
}

/** When the first certificate ends. Undefined when it cannot be read. */
export function expiryOf(pem: string): Date | undefined {
  try {
    return new X509Certificate(pem).validToDate
  } catch {
    return undefined // checked when it was given; a plugin's may be anything
  }
}
