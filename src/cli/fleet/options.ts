/** The flags that `fleet` and `gate` have in common, and the order in which they are checked. */
import { type Command, Option } from 'commander'
import { sweepEnvironment } from '../../config.ts'
import { SEVERITIES, type Severity } from '../../fleet/issue.ts'
import type { RuleOptions } from '../../fleet/observation.ts'
import { isNamespaceName } from '../../kube/namespace-name.ts'
import { parseDuration, readDuration } from '../duration.ts'
import type { SelectionFlags } from './select.ts'
import { checkFleetFileFlags } from './select.ts'
import { readWholeNumber, usageError } from './usage.ts'

export interface SweepFlags extends SelectionFlags {
  readonly kubeconfig?: string
  readonly failOn: string
  readonly output: string
  readonly workers?: number
  /** Milliseconds. */
  readonly clusterTimeout?: number
  readonly maxStaleness: number
  readonly namespace?: string
  readonly nodes?: true
  readonly why?: true
  readonly oomMaxAge?: number
  readonly source: string
}

export interface SweepSettings {
  readonly failOn: Severity
  readonly output: 'text' | 'json'
  readonly workers: number
  readonly clusterTimeoutMilliseconds: number
  readonly maxStalenessMilliseconds: number
  readonly namespace: string | undefined
  readonly rules: RuleOptions
  /** Whether it is said in full why something was not seen. */
  readonly why: boolean
  readonly source: 'live' | 'store'
}

const WORKERS = 8
const CLUSTER_TIMEOUT = 60_000
const MAX_STALENESS = 300_000

export function addCommonFlags(command: Command): void {
  command
    .option('--kubeconfig <FILE>', 'one kubeconfig (default: $KUBECONFIG, then ~/.kube/config)')
    .option('-n, --namespace <NAME>', 'only this namespace (default: all)')
    .option(
      '--fail-on <LEVEL>',
      'the least severity that fails: critical, warning, info',
      'critical',
    )
    .option('-o, --output <FORMAT>', 'text or json', 'text')
    .option('--nodes', 'judge nodes as well: not ready, under pressure, cordoned')
    .option('--why', 'say on standard error why something was not seen, in full')
    .addOption(
      new Option(
        '--oom-max-age <TIME>',
        'forget OOM kills that are older (default: never)',
      ).argParser(readDuration),
    )
    .addOption(
      new Option(
        '--cluster-timeout <TIME>',
        'how long one cluster may take (default: 60s; FLEETGLASS_FLEET_CLUSTER_TIMEOUT)',
      ).argParser(readDuration),
    )
    .option('--source <SOURCE>', 'live: ask the clusters; store: judge the mirror of them', 'live')
    .addOption(
      new Option('--max-staleness <TIME>', 'from the store: how old news of a cluster may be')
        .argParser(readDuration)
        .default(MAX_STALENESS, '5m'),
    )
}

export function addWorkersFlag(command: Command): void {
  command.addOption(
    new Option(
      '--workers <N>',
      'clusters at once, 1 to 64 (default: 8; FLEETGLASS_FLEET_WORKERS)',
    ).argParser(readWholeNumber),
  )
}

/** @throws CommandFailure, a usage error. */
export function readSweepSettings(flags: SweepFlags): SweepSettings {
  checkFleetFileFlags(flags)
  const output = oneOf('--output', flags.output, ['text', 'json'])
  const failOn = oneOf('--fail-on', flags.failOn.trim().toLowerCase(), SEVERITIES)
  const environment = sweepEnvironment()
  const fromVariable = parseDuration(environment.clusterTimeout ?? '') ?? 0
  const otherwise = fromVariable > 0 ? fromVariable : CLUSTER_TIMEOUT
  const clusterTimeout = positive('--cluster-timeout', flags.clusterTimeout ?? otherwise)
  const maxStaleness = positive('--max-staleness', flags.maxStaleness)
  return {
    failOn,
    output,
    workers: flags.workers ?? workersIn(environment.workers) ?? WORKERS,
    clusterTimeoutMilliseconds: asTimer(clusterTimeout),
    maxStalenessMilliseconds: maxStaleness,
    namespace: namespaceIn(flags),
    why: flags.why ?? false,
    rules: {
      ...(flags.nodes && { nodes: true }),
      ...(flags.oomMaxAge !== undefined && {
        oomKilledWithinMilliseconds: positive('--oom-max-age', flags.oomMaxAge),
      }),
    },
    source: oneOf('--source', flags.source, ['live', 'store']),
  }
}

/** The empty one is none, as kubectl takes it. */
function namespaceIn({ namespace = '' }: SweepFlags): string | undefined {
  if (namespace === '' || isNamespaceName(namespace)) return namespace || undefined
  throw usageError(`--namespace must be the name of a namespace, not ${JSON.stringify(namespace)}`)
}

/** Of setTimeout: what is longer would be over at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Whole milliseconds, at least one. */
function asTimer(milliseconds: number): number {
  return Math.min(LONGEST_TIMER, Math.ceil(milliseconds))
}

/** One that is no number is as if it were not set. */
function workersIn(variable: string | undefined): number | undefined {
  return variable !== undefined && /^[+-]?\d+$/.test(variable) ? Number(variable) : undefined
}

function oneOf<const T extends string>(flag: string, value: string, values: readonly T[]): T {
  const known = values.find((one) => one === value)
  if (known !== undefined) return known
  throw usageError(`${flag} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`)
}

function positive(flag: string, milliseconds: number): number {
  if (milliseconds > 0) return milliseconds
  throw usageError(`${flag} must be more than 0, not ${milliseconds / 1000}s`)
}
