/** `fleetglass token`: access tokens of readers, and with `--viewer` what they may read. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { timestamp } from '../../kube/timestamp.ts'
import { createLogger } from '../../log.ts'
import { createRegistrations } from '../../registration/registrations.ts'
import {
  type AccessToken,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
  TokenNameTaken,
} from '../../store/access-tokens.ts'
import type { Store } from '../../store/connect.ts'
import { existingDataDir, keyFileIn } from '../data-dir/data-dir.ts'
import { keyringFrom } from '../data-dir/encryption-key.ts'
import { reachableFrom, writeKubeconfig } from '../data-dir/kubeconfig.ts'
import { checkReplaceable } from '../data-dir/write-file.ts'
import { readDuration } from '../duration.ts'
import { CommandFailure } from '../failure.ts'
import { readLabel } from '../flag-values.ts'
import { withStore } from '../parts/with-store.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { formatTable } from '../table.ts'
import { createViewer, removeViewer, type ViewerRights } from '../viewer.ts'

const TAKES = ['dataDir', 'databaseUrl', 'encryptionKeyFile', 'logLevel'] as const

export function defineToken(program: Command): void {
  const token = program
    .command('token')
    .description('make, list and revoke tokens of readers')
    .helpCommand(false)
  defineCreate(token)
  const list = token.command('list').description('list tokens; the tokens themselves are not kept')
  addSettings(list, TAKES).action(() => use(list, ({ store }) => printTokens(store)))
  const revoke = token.command('revoke <NAME>').description('make a token worthless at once')
  addSettings(revoke, TAKES).action((name: string) => use(revoke, (of) => revokeToken(of, name)))
}

interface CreateFlags {
  readonly name: string
  /** Milliseconds. */
  readonly expires: number
  readonly viewer?: true
  readonly clusters?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly kubeconfig?: string
}

function defineCreate(token: Command): void {
  const create = token
    .command('create')
    .description('make a token and print it; it is shown this once')
    .requiredOption(
      '--name <NAME>',
      'who its bearer is, for FleetAccess and for listing',
      readLabel,
    )
    .option('--expires <TIME>', 'how long it is good for: 12h, 90d, 1y', readExpiry, DAY * 90)
    .option('--viewer', 'let them read everything, or what the next flags narrow it to')
    .option('--clusters <NAMES>', 'with --viewer: only these clusters; globs such as prod-*', split)
    .option('--namespaces <NAMES>', 'with --viewer: only these namespaces', split)
    .option('--kubeconfig <FILE>', 'write a kubeconfig with it as well')
  // The default in help as it would be typed.
  create.options.find(({ long }) => long === '--expires')?.default(DAY * 90, '90d')
  addSettings(create, TAKES).action(async () => {
    const flags = create.opts<CreateFlags>()
    if (!flags.viewer && (flags.clusters ?? flags.namespaces)) {
      throw new CommandFailure('--clusters and --namespaces need --viewer', { exitCode: 2 })
    }
    await use(create, (of) => createToken(of, flags))
  })
}

const DAY = 86_400 * 1000
const LONGEST = 100 * 365 * DAY

function readExpiry(text: string): number {
  const milliseconds = readDuration(text)
  if (milliseconds > 0 && milliseconds <= LONGEST) return milliseconds
  throw new InvalidArgumentError('It must be more than nothing, and at most 100y.')
}

function split(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('It must be names separated by commas.')
  return names
}

interface Installation {
  readonly config: Config<(typeof TAKES)[number]>
  readonly dataDir: string
  readonly store: Store
}

async function use(
  command: Command,
  work: (installation: Installation) => Promise<void>,
): Promise<void> {
  const config = readSettings(command, TAKES)
  const { databaseUrl, encryptionKeyFile } = config
  const isElsewhere = databaseUrl !== undefined && encryptionKeyFile !== undefined
  const dataDir = isElsewhere ? resolve(config.dataDir) : existingDataDir(config.dataDir)
  const log = createLogger(config.logLevel)
  await withStore({ databaseUrl, dataDir, log }, (store) => work({ config, dataDir, store }))
}

async function createToken(installation: Installation, flags: CreateFlags): Promise<void> {
  const { name } = flags
  const { store, dataDir } = installation
  const kubeconfig = flags.kubeconfig === undefined ? undefined : resolve(flags.kubeconfig)
  const at = kubeconfig === undefined ? undefined : reachableFrom(dataDir)
  if (kubeconfig !== undefined) checkReplaceable(kubeconfig)
  const rights: ViewerRights = {
    user: name,
    clusters: flags.clusters ?? ['*'],
    namespaces: flags.namespaces ?? ['*'],
  }
  const registrations = registrationsOf(installation)
  // Tried first: a token without the rights that were asked for would be half of it.
  if (await isTaken(store, name)) throw new CommandFailure(nameIsTaken(name))
  if (flags.viewer) await createViewer(registrations, rights, { dryRun: true })
  const expiresAt = new Date(systemClock.now() + flags.expires)
  const token = await createAccessToken(store, {
    name,
    userName: name,
    groups: [],
    expiresAt,
  }).catch((error: unknown) => {
    throw error instanceof TokenNameTaken ? new CommandFailure(nameIsTaken(name)) : error
  })
  if (flags.viewer) await createViewer(registrations, rights, { dryRun: false })
  await registrations.close()
  // First, and whatever becomes of the file: it cannot be asked for again.
  console.log(token)
  if (kubeconfig !== undefined && at) {
    const credential = { token }
    writeKubeconfig({ path: kubeconfig, at, name: 'fleetglass', credential, clusters: [] })
  }
}

async function isTaken(store: Store, name: string): Promise<boolean> {
  const tokens = await listAccessTokens(store)
  return tokens.some((token) => token.name === name && stateOf(token, systemClock.now()) === 'good')
}

function nameIsTaken(name: string): string {
  return `there is already a token named ${JSON.stringify(name)}: choose another name, or revoke it first`
}

function registrationsOf({ config, dataDir, store }: Installation) {
  const keyring = keyringFrom(config.encryptionKeyFile ?? keyFileIn(dataDir), 'fail')
  return createRegistrations({ store, keyring, clock: systemClock })
}

async function printTokens(store: Store): Promise<void> {
  const now = systemClock.now()
  const rows = (await listAccessTokens(store)).map((token) => [
    token.name,
    stateOf(token, now),
    timestamp(token.createdAt.getTime()),
    timestamp(token.expiresAt.getTime()),
  ])
  process.stdout.write(formatTable(['NAME', 'STATE', 'CREATED', 'EXPIRES'], rows))
}

function stateOf({ revokedAt, expiresAt }: AccessToken, now: number): string {
  if (revokedAt) return 'revoked'
  return expiresAt.getTime() <= now ? 'expired' : 'good'
}

async function revokeToken(installation: Installation, name: string): Promise<void> {
  const { store } = installation
  const registrations = registrationsOf(installation)
  const revoked = await revokeAccessToken(store, name)
  const removed = await removeViewer(registrations, name)
  await registrations.close()
  if (!revoked) {
    throw new CommandFailure(
      `there is no token ${JSON.stringify(name)} that is not revoked already`,
    )
  }
  console.log(`revoked ${name}${removed ? ' and removed its FleetAccess' : ''}`)
}
