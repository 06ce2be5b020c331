/**
 * The certificates of a standalone server: a CA of its own, the server's certificate and the
 * administrator's client certificate.
 *
 * What is close to its end, or made for other names, is made anew whenever this is asked.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  belongTogether,
  type CertificateRequest,
  hasNames,
  isSignedBy,
  issueCertificate,
  isValidFor,
  type KeyPair,
  newAuthority,
} from '../certificates/issue.ts'
import { CommandFailure } from '../failure.ts'
import { replaceFile } from './write-file.ts'

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

const CA = { file: 'ca', days: 3650, renewDays: 60 }
const SERVER = { file: 'server', days: 90, renewDays: 30 }
const ADMIN = { file: 'admin', days: 365, renewDays: 90 }
const SERVER_NAME = [{ CN: ['fleetglass'] }]
const ADMIN_NAME = [{ CN: ['fleetglass-admin'] }, { O: ['system:masters'] }]

type Kind = typeof CA

/** Reads the certificates of this directory, and makes those that are missing or due. */
export async function ensurePki({ dataDir, names, now }: PkiRequest): Promise<Pki> {
  const folder = join(dataDir, 'pki')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const authority = await ensureCa(folder, now)
  const wanted = serverNames(names)
  const issue = async (kind: Kind, request: Pick<CertificateRequest, 'subject' | 'names'>) => {
    const { days } = kind
    return writePair(folder, kind, await issueCertificate({ ...request, authority, now, days }))
  }
  const isGood = (pair: KeyPair, { renewDays: days }: Kind) =>
    isValidFor(pair, { now, days }) && isSignedBy(pair, authority)
  const oldServer = undamaged(readPair(folder, SERVER))
  const server =
    oldServer && isGood(oldServer, SERVER) && hasNames(oldServer, wanted)
      ? oldServer
      : await issue(SERVER, { subject: SERVER_NAME, names: wanted })
  const oldAdmin = undamaged(readPair(folder, ADMIN))
  const admin =
    oldAdmin && isGood(oldAdmin, ADMIN) ? oldAdmin : await issue(ADMIN, { subject: ADMIN_NAME })
  return { caCert: authority.cert, server, admin }
}

function serverNames(names: readonly string[]): readonly string[] {
  const reachable = names.filter((name) => name !== '0.0.0.0' && name !== '::')
  return [...new Set(['localhost', '127.0.0.1', '::1', ...reachable])]
}

async function ensureCa(folder: string, now: number): Promise<KeyPair> {
  const old = readPair(folder, CA)
  // What has signed nothing is no more than a first start that was cut off.
  const isKnown = existsSync(join(folder, `${SERVER.file}.crt`))
  if (old === 'damaged' && isKnown) throw damagedCa(folder)
  if (old && old !== 'damaged' && isValidFor(old, { now, days: CA.renewDays })) return old
  return writePair(folder, CA, await newAuthority({ now, days: CA.days }))
}

function readPair(folder: string, { file }: Kind): KeyPair | 'damaged' | undefined {
  const cert = join(folder, `${file}.crt`)
  const key = join(folder, `${file}.key`)
  if (!existsSync(cert) && !existsSync(key)) return undefined
  if (!existsSync(cert) || !existsSync(key)) return 'damaged'
  const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  return belongTogether(pair) ? pair : 'damaged'
}

/** Nobody keeps these: new ones are as good. */
function undamaged(pair: ReturnType<typeof readPair>): KeyPair | undefined {
  return pair === 'damaged' ? undefined : pair
}

/** Kubeconfigs hold it, so it is not made anew behind anyone's back. */
function damagedCa(folder: string): CommandFailure {
  const [cert, key] = [join(folder, `${CA.file}.crt`), join(folder, `${CA.file}.key`)]
  return new CommandFailure(
    `${cert} and ${key} are damaged, not both there, or do not belong together: ` +
      'restore them, or remove both; kubeconfigs that hold the old certificate must then be written again',
  )
}

function writePair(folder: string, { file }: Kind, pair: KeyPair): KeyPair {
  replaceFile(join(folder, `${file}.key`), pair.key)
  replaceFile(join(folder, `${file}.crt`), pair.cert, 0o644)
  return pair
}
