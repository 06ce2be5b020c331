/**
 * client.authentication.k8s.io: a program that prints credentials, from a kubeconfig we trust.
 *
 * One process at a time, ended after 30 s; what it prints is kept until it expires, or a 401.
 *
 * @see https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
 */
import { execFile } from 'node:child_process'
import { isAbsolute, join } from 'node:path'
import { bearer, inlineHeaders } from './inline-credentials.ts'
import { type KubeconfigContext, textField, textsField } from './kubeconfig.ts'
import { type Authorization, InvalidConfig, type MemberAccess } from './member-access.ts'
import { MemberError } from './member-error.ts'

const TIMEOUT_MILLISECONDS = 30_000
const OUTPUT_BYTES = 1024 * 1024
/** New credentials are fetched a little early: the member's clock is not ours. */
const EARLY_MILLISECONDS = 10_000

type Fields = Readonly<Record<string, unknown>>
type Target = Omit<MemberAccess, 'authorize' | 'renew'>

export interface ExecOptions {
  /** What a relative command is relative to. */
  readonly baseDir: string
  /** Left out: 30 s. */
  readonly timeoutMilliseconds?: number
}

interface Plugin {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly apiVersion: string
  readonly baseDir: string
  readonly timeoutMilliseconds: number
  /** KUBERNETES_EXEC_INFO. */
  readonly info: string
  /** Where it stands, for messages. */
  readonly field: string
}

interface Credential {
  readonly authorization: Authorization
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** @throws InvalidConfig naming the field. */
export function createExecPlugin(
  target: Target,
  read: KubeconfigContext,
  options: ExecOptions,
): Pick<MemberAccess, 'authorize' | 'renew'> {
  const plugin = readPlugin(target, read, options)
  const others = inlineHeaders({ ...read, user: { ...read.user, token: undefined } })
  let known: Credential | undefined
  let running: Promise<Credential> | undefined
  return {
    authorize: async () => {
      if (!known || known.expiresAt - EARLY_MILLISECONDS <= Date.now()) {
        running ??= run(plugin).finally(() => {
          running = undefined
        })
        known = await running
      }
      const { headers, ...pair } = known.authorization
      return { headers: { ...others, ...headers }, ...pair }
    },
    renew: () => {
      known = undefined
      return true
    },
  }
}

function readPlugin(target: Target, read: KubeconfigContext, options: ExecOptions): Plugin {
  const field = `${read.userField}.exec`
  const exec = read.user.exec as Fields
  const command = textField(exec, 'command', field)
  if (!command) throw new InvalidConfig(`${field}.command is not set`)
  const apiVersion = textField(exec, 'apiVersion', field) ?? ''
  if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    throw new InvalidConfig(
      `${field}.apiVersion must be client.authentication.k8s.io/v1 or v1beta1`,
    )
  }
  if (textField(exec, 'interactiveMode', field) === 'Always') {
    throw new InvalidConfig(`${field}.interactiveMode: a server has no terminal to ask at`)
  }
  const env = Object.fromEntries(
    (Array.isArray(exec.env) ? exec.env : []).map((one: Fields) => [one.name, one.value]),
  )
  const args = textsField(exec, 'args', field)
  const spec = { interactive: false, ...(exec.provideClusterInfo === true && clusterInfo(target)) }
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec })
  const { baseDir, timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options
  return { command, args, env, apiVersion, baseDir, timeoutMilliseconds, info, field }
}

function clusterInfo({ server, ca, serverName, insecure, proxyUrl }: Target) {
  return {
    cluster: {
      server: server.href.replace(/\/$/, ''),
      ...(serverName !== undefined && { 'tls-server-name': serverName }),
      ...(insecure && { 'insecure-skip-tls-verify': true }),
      ...(ca !== undefined && {
        'certificate-authority-data': Buffer.from(ca).toString('base64'),
      }),
      ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
    },
  }
}

async function run(plugin: Plugin): Promise<Credential> {
  const output = await execute(plugin)
  const status = readStatus(output, plugin)
  const token = text(status.token)
  const cert = text(status.clientCertificateData)
  const key = text(status.clientKeyData)
  if (!token && !(cert && key)) {
    throw new MemberError('unauthorized', `${plugin.command} printed neither token nor certificate`)
  }
  const expiry = Date.parse(text(status.expirationTimestamp) ?? '')
  return {
    authorization: {
      headers: token ? bearer(token, plugin.field) : {},
      ...(cert && key && { cert, key }),
    },
    expiresAt: Number.isNaN(expiry) ? Number.POSITIVE_INFINITY : expiry,
  }
}

function execute(plugin: Plugin): Promise<string> {
  const { command, baseDir, timeoutMilliseconds } = plugin
  // As client-go: a command with a slash is relative to the file, one without is looked up in PATH.
  const file = command.includes('/') && !isAbsolute(command) ? join(baseDir, command) : command
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...inheritedEnvironment(), ...plugin.env, KUBERNETES_EXEC_INFO: plugin.info },
      timeout: timeoutMilliseconds,
      killSignal: 'SIGKILL' as const,
      maxBuffer: OUTPUT_BYTES,
    }
    execFile(file, plugin.args, options, (error, stdout) => {
      if (!error) return resolve(stdout)
      // Neither its output nor its arguments: both may hold credentials.
      const why = error.killed ? `did not end within ${timeoutMilliseconds / 1000} s` : 'failed'
      reject(
        new MemberError('unauthorized', `the credential plugin ${command} ${why}`, {
          cause: error,
        }),
      )
    }).stdin?.end()
  })
}

function readStatus(output: string, { command, apiVersion }: Plugin): Fields {
  let printed: Fields
  try {
    printed = JSON.parse(output)
  } catch {
    throw new MemberError('unauthorized', `the credential plugin ${command} printed no JSON`)
  }
  const { kind, apiVersion: given, status } = printed ?? {}
  if (kind !== 'ExecCredential' || given !== apiVersion || !status) {
    const message = `the credential plugin ${command} printed no ExecCredential of ${apiVersion}`
    throw new MemberError('unauthorized', message)
  }
  return status as Fields
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * A plugin needs HOME, PATH and its own variables (AWS_PROFILE …): it gets what we were started
 * with, our own settings left out, for the password of the database is one of them.
 */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: handed on, not read
  const all = Object.entries(process.env)
  return Object.fromEntries(all.filter(([name]) => !name.startsWith('FLEETGLASS_')))
}
