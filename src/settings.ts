/**
 * Everything that can be set from outside, in one table.
 *
 * The flags of each command, the FLEETGLASS_* variables, the keys of a file, `--help` and the table
 * in README.md are made from `SETTINGS`, so a default is written once. config.ts reads them.
 */
import type { LogLevel } from './log.ts'
import {
  databaseUrl,
  directUrl,
  hostNames,
  list,
  listenAddress,
  oneOf,
  prunePaths,
  type Read,
  text,
  wholeNumber,
} from './setting-values.ts'
import { DEFAULT_LIMITS } from './sync/limits.ts'

export interface Setting<T> {
  /** Without the dashes; the variable is FLEETGLASS_ and the same in capitals. */
  readonly flag: string
  /** What stands for the value in help. */
  readonly placeholder: string
  readonly help: string
  /** As the user would type it. Undefined: not set unless given. */
  readonly fallback?: string
  /** In place of a `fallback` that is worked out when it is needed. */
  readonly fallbackHelp?: string
  /** True keeps the value out of messages. */
  readonly secret?: true
  /** May be given several times, or as one list with commas. */
  readonly many?: true
  readonly read: (text: string) => Read<T>
}

const define = <T>(setting: Setting<T>): Setting<T> => setting

export const SETTINGS = {
  config: define({
    flag: 'config',
    placeholder: 'FILE',
    help: 'YAML with further settings, by the names of their flags; flags and variables win',
    read: text,
  }),
  dataDir: define({
    flag: 'data-dir',
    placeholder: 'DIR',
    help: 'where the database, the keys, the certificates and the kubeconfig are kept',
    fallback: '.fleetglass',
    read: text,
  }),
  listen: define({
    flag: 'listen',
    placeholder: 'HOST:PORT',
    help: 'where the API is served, over TLS',
    fallback: '127.0.0.1:8443',
    read: listenAddress,
  }),
  databaseUrl: define({
    flag: 'database-url',
    placeholder: 'URL',
    help: 'PostgreSQL 14 or later to use in place of the embedded one',
    fallbackHelp: 'embedded, in the data directory',
    secret: true,
    read: databaseUrl,
  }),
  readDatabaseUrl: define({
    flag: 'read-database-url',
    placeholder: 'URL',
    help: 'a standby of that database, from which objects are read as long as it is new enough',
    fallbackHelp: 'read from the database itself',
    secret: true,
    read: databaseUrl,
  }),
  tlsSan: define({
    flag: 'tls-san',
    placeholder: 'NAME',
    help: 'further host names and addresses for the server certificate',
    many: true,
    read: hostNames,
  }),
  encryptionKeyFile: define({
    flag: 'encryption-key-file',
    placeholder: 'FILE',
    help: 'the key (32 bytes in base64) that seals credentials and digests Secrets; all processes share it',
    fallbackHelp: 'encryption-key in the data directory, made when missing',
    read: text,
  }),
  secretValues: define({
    flag: 'secret-values',
    placeholder: 'digest|store',
    help: 'what is kept of the values in members’ Secrets',
    fallback: 'digest',
    read: oneOf('digest', 'store'),
  }),
  prune: define({
    flag: 'prune',
    placeholder: 'PATH',
    help: "further fields that are cut out of every object before it is stored, such as metadata.annotations['x'] or spec.containers[].env",
    many: true,
    read: prunePaths,
  }),
  importKubeconfig: define({
    flag: 'import-kubeconfig',
    placeholder: 'FILE',
    help: 'register a member cluster for each context of this kubeconfig; exec plugins are honoured',
    read: text,
  }),
  context: define({
    flag: 'context',
    placeholder: 'NAME',
    help: 'import only these contexts',
    fallbackHelp: 'all of the file',
    many: true,
    read: list,
  }),
  firstLists: define({
    flag: 'first-lists',
    placeholder: 'N',
    help: 'first lists that one syncer runs at once',
    fallback: String(DEFAULT_LIMITS.firstLists),
    read: wholeNumber(1, 1000),
  }),
  firstListsPerMember: define({
    flag: 'first-lists-per-member',
    placeholder: 'N',
    help: 'how many of them against one member cluster',
    fallback: String(DEFAULT_LIMITS.firstListsPerMember),
    read: wholeNumber(1, 1000),
  }),
  continueTokens: define({
    flag: 'continue-tokens',
    placeholder: 'always|on-request',
    help: 'whether a page tells where the next one starts: always, so that kubectl gets all of a list, or only when with-continue asks, as in Clusterpedia',
    fallback: 'always',
    read: oneOf('always', 'on-request'),
  }),
  readerStreams: define({
    flag: 'reader-streams',
    placeholder: 'N',
    help: 'how many whole lists one user may have under way; what is more is answered with 429',
    fallback: '16',
    read: wholeNumber(1, 100_000),
  }),
  readerQueries: define({
    flag: 'reader-queries',
    placeholder: 'N',
    help: 'how many other reads of the mirror, pages of lists among them, one user may have under way',
    fallback: '64',
    read: wholeNumber(1, 100_000),
  }),
  changeLogHours: define({
    flag: 'change-log-hours',
    placeholder: 'N',
    help: 'how long changes are remembered, for watches that resume',
    fallback: '24',
    read: wholeNumber(1, 24 * 365),
  }),
  changeLogChanges: define({
    flag: 'change-log-changes',
    placeholder: 'N',
    help: 'how many changes are remembered at most',
    fallback: '1000000',
    read: wholeNumber(1000, 1_000_000_000),
  }),
  registrations: define({
    flag: 'registrations',
    placeholder: 'own|management',
    help: 'where PediaClusters, ClusterSyncResources and FleetAccesses live: in our own store, served by our own API server, or in the API server of a management cluster',
    fallback: 'own',
    read: oneOf('own', 'management'),
  }),
  kubeconfig: define({
    flag: 'kubeconfig',
    placeholder: 'FILE',
    help: 'how the management cluster is reached; its current context is used, exec plugins are honoured',
    fallbackHelp: 'the service account of the pod',
    read: text,
  }),
  namespace: define({
    flag: 'namespace',
    placeholder: 'NAME',
    help: 'the namespace of the management cluster that holds the Secrets of authenticationFrom, and our Leases',
    fallbackHelp: 'that of the pod, or of the context',
    read: text,
  }),
  authorizationMode: define({
    flag: 'authorization-mode',
    placeholder: 'FleetAccess|Aggregator',
    help: 'whose rights count: those of FleetAccess objects, or those that RBAC of the management cluster gives on the paths of clusterpedia.io, to read everything behind them, as in Clusterpedia',
    fallback: 'FleetAccess',
    read: oneOf('FleetAccess', 'Aggregator'),
  }),
  clientCaFile: define({
    flag: 'client-ca-file',
    placeholder: 'FILE',
    help: 'the CAs of client certificates, in PEM; read again when it changes',
    fallbackHelp: 'as the management cluster says in extension-apiserver-authentication',
    read: text,
  }),
  requestheaderClientCaFile: define({
    flag: 'requestheader-client-ca-file',
    placeholder: 'FILE',
    help: 'the CAs of the front proxy that says who is asking, in PEM; read again when it changes',
    fallbackHelp: 'as the management cluster says, the headers below too',
    read: text,
  }),
  requestheaderAllowedNames: define({
    flag: 'requestheader-allowed-names',
    placeholder: 'NAME',
    help: 'with a CA file: common names of the front proxy',
    fallbackHelp: 'any of its CA',
    many: true,
    read: list,
  }),
  requestheaderUsernameHeaders: define({
    flag: 'requestheader-username-headers',
    placeholder: 'HEADER',
    help: 'with a CA file: where the user is named',
    fallback: 'X-Remote-User',
    many: true,
    read: list,
  }),
  requestheaderUidHeaders: define({
    flag: 'requestheader-uid-headers',
    placeholder: 'HEADER',
    help: 'with a CA file: where the UID of the user is',
    fallbackHelp: 'nowhere',
    many: true,
    read: list,
  }),
  requestheaderGroupHeaders: define({
    flag: 'requestheader-group-headers',
    placeholder: 'HEADER',
    help: 'with a CA file: where the groups of the user are',
    fallback: 'X-Remote-Group',
    many: true,
    read: list,
  }),
  requestheaderExtraHeadersPrefix: define({
    flag: 'requestheader-extra-headers-prefix',
    placeholder: 'PREFIX',
    help: 'with a CA file: how headers begin that say more about the user',
    fallback: 'X-Remote-Extra-',
    many: true,
    read: list,
  }),
  apiAudiences: define({
    flag: 'api-audiences',
    placeholder: 'NAME',
    help: 'tokens that the management cluster reviews must be meant for one of these',
    fallbackHelp: 'for its own API server',
    many: true,
    read: list,
  }),
  tlsCertFile: define({
    flag: 'tls-cert-file',
    placeholder: 'FILE',
    help: 'the server certificate, in PEM, with what stands between it and its CA; read again when it changes',
    fallbackHelp: 'issued by a CA in the data directory',
    read: text,
  }),
  tlsPrivateKeyFile: define({
    flag: 'tls-private-key-file',
    placeholder: 'FILE',
    help: 'the key of --tls-cert-file',
    read: text,
  }),
  advertiseDirectUrl: define({
    flag: 'advertise-direct-url',
    placeholder: 'URL',
    help: 'where readers reach this server past the aggregator, which cuts answers off after 60 s; hack/gen-clusterconfigs.sh writes it',
    fallbackHelp: 'through the aggregator',
    read: directUrl,
  }),
  advertiseDirectCaFile: define({
    flag: 'advertise-direct-ca-file',
    placeholder: 'FILE',
    help: 'the CA of the server certificate at --advertise-direct-url, in PEM',
    fallbackHelp: 'one that every machine trusts',
    read: text,
  }),
  proxiedListSeconds: define({
    flag: 'proxied-list-seconds',
    placeholder: 'N',
    help: 'how long a list takes at most that goes through a front proxy; it is then a page with a continue',
    fallback: '50',
    read: wholeNumber(1, 3600),
  }),
  shardingName: define({
    flag: 'sharding-name',
    placeholder: 'NAME',
    help: 'sync only clusters of this spec.shardingName',
    fallbackHelp: 'those without one',
    read: text,
  }),
  leaseHolder: define({
    flag: 'lease-holder',
    placeholder: 'NAME',
    help: 'the name under which a syncer holds its clusters: unlike any other, and kept when it is started again, it need not wait for what it held',
    fallbackHelp: 'host, process and a random part',
    read: text,
  }),
  metricsListen: define({
    flag: 'metrics-listen',
    placeholder: 'HOST:PORT',
    help: 'where a syncer serves /metrics, /livez and /readyz, over plain HTTP and to anybody',
    fallbackHelp: 'nowhere',
    read: listenAddress,
  }),
  shutdownDelaySeconds: define({
    flag: 'shutdown-delay-seconds',
    placeholder: 'N',
    help: 'how long an API server that is told to stop goes on answering, while /readyz fails and each answer closes its connection',
    fallback: '0',
    read: wholeNumber(0, 600),
  }),
  shutdownGraceSeconds: define({
    flag: 'shutdown-grace-seconds',
    placeholder: 'N',
    help: 'how long answers that are under way may take after that',
    fallback: '60',
    read: wholeNumber(0, 600),
  }),
  logLevel: define<LogLevel>({
    flag: 'log-level',
    placeholder: 'LEVEL',
    help: 'debug, info, warn, error or silent; JSON lines on standard error',
    fallback: 'info',
    read: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  }),
}

export type SettingName = keyof typeof SETTINGS

/** Those that have a value whatever is given. */
export type HasFallback =
  | 'dataDir'
  | 'listen'
  | 'secretValues'
  | 'firstLists'
  | 'firstListsPerMember'
  | 'continueTokens'
  | 'registrations'
  | 'authorizationMode'
  | 'requestheaderUsernameHeaders'
  | 'requestheaderGroupHeaders'
  | 'requestheaderExtraHeadersPrefix'
  | 'proxiedListSeconds'
  | 'readerStreams'
  | 'readerQueries'
  | 'changeLogHours'
  | 'changeLogChanges'
  | 'shutdownDelaySeconds'
  | 'shutdownGraceSeconds'
  | 'logLevel'

export function variableOf(setting: Setting<unknown>): string {
  return `FLEETGLASS_${setting.flag.toUpperCase().replaceAll('-', '_')}`
}
