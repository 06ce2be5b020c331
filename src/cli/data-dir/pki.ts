/**
 * The certificates of a standalone server: a CA of its own, the server's certificate and the
 * administrator's client certificate, all EC P-256 with SHA-256.
 *
 * What is close to its end, or made for other names, is made anew whenever this is asked.
 */
import 'reflect-metadata' // @peculiar/x509 does not load without it.
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'
import { CommandFailure } from '../failure.ts'
import { replaceFile } from './write-file.ts'

export interface KeyPair {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface Pki {
  readonly caCert: string
  readonly server: KeyPair
  /** CN=fleetglass-admin, O=system:masters. */
  readonly admin: KeyPair
}

export interface PkiRequest {
  readonly dataDir: string
  /** Host names and addresses that the server is reached by. */
  readonly names: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

const DAY = 24 * 3600 * 1000
/** A clock that is a little behind ours must not find a certificate that is not valid yet. */
const BACKDATED = 3600 * 1000
const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

const CA = { file: 'ca', days: 3650, renewDays: 60 }
const SERVER = { file: 'server', days: 90, renewDays: 30 }
const ADMIN = { file: 'admin', days: 365, renewDays: 90 }
const ADMIN_NAME = [{ CN: ['fleetglass-admin'] }, { O: ['system:masters'] }]

type Kind = typeof CA

interface Issuer {
  readonly pair: KeyPair
  readonly cert: x509.X509Certificate
  readonly key: webcrypto.CryptoKey
}

/** Reads the certificates of this directory, and makes those that are missing or due. */
export async function ensurePki({ dataDir, names, now }: PkiRequest): Promise<Pki> {
  const folder = join(dataDir, 'pki')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const ca = await ensureCa(folder, now)
  const wanted = serverNames(names)
  const isGood = (pair: KeyPair, kind: Kind) => isValid(pair, kind, now) && isIssuedBy(pair, ca)
  const oldServer = undamaged(readPair(folder, SERVER))
  const server =
    oldServer && isGood(oldServer, SERVER) && hasNames(oldServer, wanted)
      ? oldServer
      : await issue({ folder, now, ca, kind: SERVER, subject: serverSubject(), names: wanted })
  const oldAdmin = undamaged(readPair(folder, ADMIN))
  const admin =
    oldAdmin && isGood(oldAdmin, ADMIN)
      ? oldAdmin
      : await issue({ folder, now, ca, kind: ADMIN, subject: ADMIN_NAME })
  return { caCert: ca.pair.cert, server, admin }
}

function serverSubject() {
  return [{ CN: ['fleetglass'] }]
}

function serverNames(names: readonly string[]): readonly string[] {
  const reachable = names.filter((name) => name !== '0.0.0.0' && name !== '::')
  return [...new Set(['localhost', '127.0.0.1', '::1', ...reachable])]
}

async function ensureCa(folder: string, now: number): Promise<Issuer> {
  const old = readPair(folder, CA)
  if (old === 'damaged') throw damagedCa(folder)
  if (old && isValid(old, CA, now)) return asIssuer(old)
  const keys = await newKeys()
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(now, CA),
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
  return asIssuer(await writePair(folder, CA, { cert, key: keys.privateKey }))
}

interface Issue {
  readonly folder: string
  readonly now: number
  readonly ca: Issuer
  readonly kind: Kind
  readonly subject: x509.JsonName
  /** Makes it a server's certificate; without, it is a client's. */
  readonly names?: readonly string[]
}

async function issue({ folder, now, ca, kind, subject, names }: Issue): Promise<KeyPair> {
  const keys = await newKeys()
  const usage = names ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth
  const alternatives = (names ?? []).map((value) => ({
    type: isIP(value) ? ('ip' as const) : ('dns' as const),
    value,
  }))
  const cert = await x509.X509CertificateGenerator.create({
    ...validity(now, kind),
    subject,
    issuer: ca.cert.subjectName,
    publicKey: keys.publicKey,
    signingKey: ca.key,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      await x509.AuthorityKeyIdentifierExtension.create(ca.cert),
      ...(names ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
    ],
  })
  return writePair(folder, kind, { cert, key: keys.privateKey })
}

function validity(now: number, { days }: Kind) {
  return {
    serialNumber: `00${randomBytes(15).toString('hex')}`,
    notBefore: new Date(now - BACKDATED),
    notAfter: new Date(now + days * DAY),
  }
}

function isValid({ cert }: KeyPair, { renewDays }: Kind, now: number): boolean {
  const { notBefore, notAfter } = new x509.X509Certificate(cert)
  return notBefore.getTime() <= now && notAfter.getTime() - now > renewDays * DAY
}

function isIssuedBy({ cert }: KeyPair, ca: Issuer): boolean {
  return new x509.X509Certificate(cert).issuer === ca.cert.subject
}

function hasNames({ cert }: KeyPair, wanted: readonly string[]): boolean {
  const found = new x509.X509Certificate(cert).getExtension(x509.SubjectAlternativeNameExtension)
  const names = found?.names.items.map(({ value }) => canonicalAddress(value)) ?? []
  return wanted.every((name) => names.includes(canonicalAddress(name)))
}

/** `::1` and `0:0:0:0:0:0:0:1` are the same address. */
function canonicalAddress(name: string): string {
  return isIP(name) === 6 ? new URL(`http://[${name}]`).hostname : name
}

async function newKeys() {
  return webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])
}

function readPair(folder: string, { file }: Kind): KeyPair | 'damaged' | undefined {
  const cert = join(folder, `${file}.crt`)
  const key = join(folder, `${file}.key`)
  if (!existsSync(cert) || !existsSync(key)) return undefined
  const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  return belongTogether(pair) ? pair : 'damaged'
}

/** Not after a crash between writing the key and the certificate, or when a file was overwritten. */
function belongTogether({ cert, key }: KeyPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false // One of them is no PEM at all.
  }
}

/** Nobody keeps these: new ones are as good. */
function undamaged(pair: ReturnType<typeof readPair>): KeyPair | undefined {
  return pair === 'damaged' ? undefined : pair
}

/** Kubeconfigs hold it, so it is not made anew behind anyone's back. */
function damagedCa(folder: string): CommandFailure {
  const [cert, key] = [join(folder, `${CA.file}.crt`), join(folder, `${CA.file}.key`)]
  return new CommandFailure(
    `${cert} and ${key} are damaged, or do not belong together: restore them, or remove both; ` +
      'kubeconfigs that hold the old certificate must then be written again',
  )
}

async function writePair(
  folder: string,
  { file }: Kind,
  made: { readonly cert: x509.X509Certificate; readonly key: webcrypto.CryptoKey },
): Promise<KeyPair> {
  const der = await webcrypto.subtle.exportKey('pkcs8', made.key)
  const key = `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n`
  const cert = `${made.cert.toString('pem')}\n`
  replaceFile(join(folder, `${file}.key`), key)
  replaceFile(join(folder, `${file}.crt`), cert, 0o644)
  return { cert, key }
}

async function asIssuer(pair: KeyPair): Promise<Issuer> {
  const der = x509.PemConverter.decodeFirst(pair.key)
  const key = await webcrypto.subtle.importKey('pkcs8', der, SIGNING, false, ['sign'])
  return { pair, cert: new x509.X509Certificate(pair.cert), key }
}
