/** The contexts of a kubeconfig, and how the cluster of each is reached. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { sanitiseName } from '../../fleet/row-name.ts'
import { isRecord, text } from '../../printers/read-field.ts'
import { credentialsFromKubeconfig } from '../../sync/credentials.ts'
import { InvalidConfig, type MemberAccess } from '../../sync/member-access.ts'
import { usageError } from './usage.ts'

export interface KubeconfigFile {
  /** Distinct, in the order of the file. */
  readonly contexts: readonly string[]
  readonly currentContext: string | undefined
  /** @throws CommandFailure, a usage error that names the row. */
  accessTo(context: string, row: string): MemberAccess
}

/** The flag, else the variable, else where kubectl looks. A list of several files is not taken. */
export function kubeconfigPath(flag: string | undefined, variable: string | undefined): string {
  return resolve(flag ?? variable ?? join(homedir(), '.kube', 'config'))
}

/** Opens each file once. */
export function kubeconfigReader(): (path: string) => KubeconfigFile {
  const known = new Map<string, KubeconfigFile>()
  return (path) => {
    const file = known.get(path) ?? openKubeconfig(path)
    known.set(path, file)
    return file
  }
}

/** @throws CommandFailure, a usage error that does not name the path: it may be a secret's. */
function openKubeconfig(path: string): KubeconfigFile {
  const content = readText(path)
  const root = parseRoot(content)
  const entries = Array.isArray(root.contexts) ? root.contexts : []
  const names = entries.map((entry: unknown) => (isRecord(entry) ? text(entry.name) : ''))
  return {
    contexts: [...new Set(names.filter((name) => name !== ''))],
    currentContext: text(root['current-context']) || undefined,
    accessTo: (context, row) => {
      const options = { field: 'kubeconfig', context, trusted: true, baseDir: dirname(path) }
      try {
        return credentialsFromKubeconfig(content, options)
      } catch (error) {
        if (!(error instanceof InvalidConfig)) throw error
        throw usageError(
          `cannot make a client for ${JSON.stringify(sanitiseName(row))}: ${error.message}`,
        )
      }
    },
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const isList = path.includes(delimiter)
    const missing = isList ? 'a list of several files is not taken' : 'it is not there'
    const why = isMissing ? missing : 'it cannot be opened'
    throw usageError(`the kubeconfig cannot be read: ${why}`)
  }
}

function parseRoot(content: string): Readonly<Record<string, unknown>> {
  let root: unknown
  try {
    root = parse(content)
  } catch {
    // The parser's own message quotes the text, and the text holds credentials.
    throw usageError('the kubeconfig cannot be read: it is not YAML')
  }
  if (root === null) return {}
  if (!isRecord(root)) throw usageError('the kubeconfig cannot be read: it is no kubeconfig')
  return root
}
