/**
 * `fleetglass drift versions|images|crds`: where clusters differ.
 *
 * Exit codes with `--exit-code`: 0 no drift, 1 drift, 2 not everything could be compared. A wrong
 * command line is 4, always, with nothing on standard output.
 */
import { type Command, Option } from 'commander'
import { compareCrds } from '../../drift/compare-crds.ts'
import { compareImages } from '../../drift/compare-images.ts'
import { compareClusterVersions } from '../../drift/compare-versions.ts'
import type { Envelope } from '../../drift/comparison.ts'
import { type Gathering, gatherCrds, gatherImages, gatherVersions } from '../../drift/gather.ts'
import { ignoring } from '../../drift/ignore.ts'
import { renameMirrors } from '../../drift/image-inventory.ts'
import { SelectionFault, selectClusters } from '../../drift/select-clusters.ts'
import { crdsText } from '../../drift/text-crds.ts'
import { imagesText } from '../../drift/text-images.ts'
import { versionsText } from '../../drift/text-versions.ts'
import {
  collect,
  collectMirrors,
  collectNames,
  collectNamespaces,
  readStaleness,
} from '../drift/read-flags.ts'
import { SOURCE_SETTINGS, type SourceRequest, withSource } from '../drift/with-source.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { exitOnUsageWith, readingFlags } from '../usage-exit.ts'
import type { DefineCommand } from './commands.ts'

const EXIT = { drift: 1, unknown: 2, usage: 4 } as const

type ExitWith = Parameters<DefineCommand>[1]

export const defineDrift: DefineCommand = (program, exitWith) => {
  const drift = exitOnUsageWith(program.command('drift'), EXIT.usage)
    .description('show where clusters differ: versions, images or crds')
    .argument('[WHAT]', 'versions, images or crds')
    .action((what: string | undefined) => {
      const given = what === undefined ? '' : `, not ${JSON.stringify(what)}`
      throw usage(`give what to compare: versions, images or crds${given}`)
    })
  defineVersions(drift, exitWith)
  defineImages(drift, exitWith)
  defineCrds(drift, exitWith)
}

interface CommonFlags {
  readonly clusters: readonly string[]
  readonly baseline?: string
  readonly ignore: readonly string[]
  readonly output: 'text' | 'json'
  readonly exitCode?: true
  /** Milliseconds. */
  readonly maxStaleness: number
  readonly kubeconfig?: string
  readonly context?: string
}

function defineVersions(drift: Command, exitWith: ExitWith): void {
  const command = drift
    .command('versions')
    .description('Kubernetes of servers and nodes, and where nodes break the version skew policy')
  addCommon(command, 'versions such as v1.30.*').action(() => {
    const { ignore } = command.opts<CommonFlags>()
    return compare(command, exitWith, async (gathering) => {
      const options = { isIgnored: ignoring(ignore) }
      const found = compareClusterVersions(
        withBaseline(await gatherVersions(gathering), command),
        options,
      )
      return { found, text: () => versionsText(found) }
    })
  })
}

interface ImageFlags extends CommonFlags {
  readonly from: 'pods' | 'templates'
  readonly namespace: readonly string[]
  readonly includeFinished?: true
  readonly includeEphemeral?: true
  readonly mirror: ReadonlyMap<string, string>
  readonly all?: true
}

function defineImages(drift: Command, exitWith: ExitWith): void {
  const command = drift
    .command('images')
    .description('container images by repository: tags and digests that differ')
    .addOption(
      new Option('--from <WHAT>', 'what runs, or what workloads declare')
        .choices(['pods', 'templates'])
        .default('pods'),
    )
    .option('-n, --namespace <NAMES>', 'only these namespaces', collectNamespaces, [])
    .option('--include-finished', 'pods that have succeeded or failed, too')
    .option('--include-ephemeral', 'containers that were added to debug a pod, too')
    .option('--mirror <FROM=TO>', 'images below FROM are those below TO', collectMirrors, new Map())
    .option('--all', 'images without a difference, too')
  addCommon(command, 'images such as docker.io/library/*').action(() => {
    const flags = command.opts<ImageFlags>()
    return compare(command, exitWith, async (gathering) => {
      const { from, namespace: namespaces, includeFinished, includeEphemeral, mirror } = flags
      const gathered = await gatherImages({
        ...{ ...gathering, from, namespaces, rename: renameMirrors(mirror) },
        ...{
          includeFinished: includeFinished ?? false,
          includeEphemeral: includeEphemeral ?? false,
        },
      })
      const options = { isIgnored: ignoring(flags.ignore) }
      const found = compareImages(withBaseline(gathered, command), options)
      return { found, text: () => imagesText(found, { all: flags.all ?? false }) }
    })
  })
}

interface CrdFlags extends CommonFlags {
  readonly schemas?: true
  readonly all?: true
}

function defineCrds(drift: Command, exitWith: ExitWith): void {
  const command = drift
    .command('crds')
    .description('CustomResourceDefinitions: where they are missing, and versions that differ')
    .option('--schemas', 'compare schemas, too')
    .option('--all', 'definitions without a difference, too')
  addCommon(command, 'definitions such as *.cattle.io').action(() => {
    const { ignore, schemas = false, all = false } = command.opts<CrdFlags>()
    return compare(command, exitWith, async (gathering) => {
      const gathered = await gatherCrds({ ...gathering, schemas })
      const options = { isIgnored: ignoring(ignore) }
      const found = compareCrds(withBaseline(gathered, command), options)
      return { found, text: () => crdsText(found, { all }) }
    })
  })
}

function addCommon(command: Command, ignored: string): Command {
  command
    .option(
      '--clusters <WHICH>',
      'only these: globs (prod-*,edge-1) or labels (env=prod); may be repeated',
      collect,
      [],
    )
    .option('--baseline <CLUSTER>', 'compare all others with this one')
    .option('--ignore <GLOBS>', `leave out ${ignored}`, collectNames, [])
    .addOption(
      new Option('-o, --output <FORMAT>', 'how it is printed')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--exit-code', 'end with 1 when there is drift, 2 when clusters are unknown')
    .option(
      '--max-staleness <TIME>',
      'compare clusters that are behind by this much, too: 30s, 5m, 12h, 7d',
      readStaleness,
      0,
    )
    .option('--kubeconfig <FILE>', 'ask the server that it points at, not the store')
    .option('--context <NAME>', 'with --kubeconfig: not its current context')
  return addSettings(command, SOURCE_SETTINGS, { fallbacks: { logLevel: 'warn' } })
}

interface Compared {
  readonly found: Envelope
  readonly text: () => string
}

async function compare(
  command: Command,
  exitWith: ExitWith,
  work: (gathering: Gathering) => Promise<Compared>,
): Promise<void> {
  const flags = command.opts<CommonFlags>()
  const request = sourceRequest(command, flags)
  const { found, text } = await withSource(request, async (source) => {
    const clusters = selectClusters(await source.clusters(), flags)
    return work({ source, clusters })
  }).catch((error: unknown) => {
    throw failureOf(error, flags)
  })
  process.stdout.write(flags.output === 'json' ? `${JSON.stringify(found, null, 2)}\n` : text())
  if (flags.exitCode) exitWith(exitCodeOf(found))
}

function sourceRequest(command: Command, flags: CommonFlags): SourceRequest {
  const { kubeconfig, context, maxStaleness } = flags
  if (context !== undefined && kubeconfig === undefined) throw usage('--context needs --kubeconfig')
  const other = ['dataDir', 'databaseUrl'].find(
    (name) => command.getOptionValueSource(name) === 'cli',
  )
  if (kubeconfig !== undefined && other) {
    const flag = other === 'dataDir' ? '--data-dir' : '--database-url'
    throw usage(`--kubeconfig and ${flag} are two sources: give one`)
  }
  const config = readingFlags(EXIT.usage, () =>
    readSettings(command, SOURCE_SETTINGS, { logLevel: 'warn' }),
  )
  return {
    ...{ config, kubeconfig, context, maxStalenessMilliseconds: maxStaleness },
    usageExitCode: EXIT.usage,
  }
}

/** Nothing was compared: for whoever asked for exit codes, all is unknown then. */
function failureOf(error: unknown, { exitCode }: CommonFlags): unknown {
  if (error instanceof SelectionFault) return usage(error.message)
  const isUsage = error instanceof CommandFailure && error.exitCode === EXIT.usage
  if (isUsage || !(error instanceof Error)) return error
  if (exitCode)
    return new CommandFailure(messageOf(error), { exitCode: EXIT.unknown, cause: error })
  return SAID.has(error.name) ? new CommandFailure(error.message, { cause: error }) : error
}

/** Errors whose message is a sentence for a person. */
const SAID = new Set(['ApiFailure', 'StatusError'])

function exitCodeOf({ unknown, driftDetected }: Envelope): number {
  if (unknown.length > 0) return EXIT.unknown
  return driftDetected ? EXIT.drift : 0
}

function withBaseline<Input extends object>(input: Input, command: Command) {
  const { baseline } = command.opts<CommonFlags>()
  return { ...input, ...(baseline !== undefined && { baseline }) }
}

function usage(message: string): CommandFailure {
  return new CommandFailure(message, { exitCode: EXIT.usage })
}
