/** Credentials of a kubeconfig from our own command line: files are read again, plugins are run. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { createExecPlugin } from './exec-plugin.ts'
import { bearer, inlineAuthorization, inlineHeaders } from './inline-credentials.ts'
import { base64Field, type KubeconfigContext, textField } from './kubeconfig.ts'
import { type Authorization, InvalidConfig, type MemberAccess } from './member-access.ts'
import { checkedCertificates, checkedKeyPair } from './pem.ts'

type Shared = Omit<MemberAccess, 'authorize' | 'renew' | 'ca'>

/** As long as a file's content is taken for fresh: client-go's own minute. */
const FILE_MILLISECONDS = 60_000

/** @throws InvalidConfig naming the field. */
export function trustedAccess(
  shared: Shared,
  read: KubeconfigContext,
  baseDir: string,
): MemberAccess {
  const { cluster, clusterField, user, userField } = read
  const pathOf = (path: string) => (isAbsolute(path) ? path : join(baseDir, path))
  const caPath = textField(cluster, 'certificate-authority', clusterField)
  const ca =
    base64Field(cluster, 'certificate-authority-data', clusterField) ??
    (caPath ? fileOf(pathOf(caPath), `${clusterField}.certificate-authority`) : undefined)
  if (user['auth-provider']) {
    throw new InvalidConfig(`${userField}.auth-provider: client-go dropped these; use exec`)
  }
  const access = {
    ...shared,
    ...(ca && { ca: checkedCertificates(ca, `${clusterField}.certificate-authority`) }),
  }
  if (user.exec) return { ...access, ...createExecPlugin(access, read, { baseDir }) }
  return { ...access, ...fromFiles(read, pathOf) }
}

function fileOf(path: string, field: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new InvalidConfig(`${field}: cannot read ${path}`, { cause: error })
  }
}

/** What the user entry says, each file read again after a minute and after a 401. */
function fromFiles(
  read: KubeconfigContext,
  pathOf: (path: string) => string,
): Pick<MemberAccess, 'authorize' | 'renew'> {
  const { user, userField } = read
  const path = (name: string) => {
    const text = textField(user, name, userField)
    return text ? pathOf(text) : undefined
  }
  const files = {
    token: path('tokenFile'),
    cert: path('client-certificate'),
    key: path('client-key'),
  }
  if (!files.token && !files.cert) {
    const authorization = inlineAuthorization(read)
    return { authorize: async () => authorization, renew: () => false }
  }
  let known: { at: number; authorization: Authorization } | undefined
  return {
    authorize: async () => {
      if (!known || Date.now() - known.at > FILE_MILLISECONDS) {
        known = { at: Date.now(), authorization: await readFiles(read, files) }
      }
      return known.authorization
    },
    renew: () => {
      known = undefined
      return true
    },
  }
}

type Files = Readonly<Record<'token' | 'cert' | 'key', string | undefined>>

async function readFiles(read: KubeconfigContext, files: Files): Promise<Authorization> {
  const { user, userField } = read
  const keyData = base64Field(user, 'client-key-data', userField)
  const token = files.token && (await readFile(files.token, 'utf8'))
  const cert = files.cert && (await readFile(files.cert))
  const key = files.key ? await readFile(files.key) : keyData
  const fields = { cert: `${userField}.client-certificate`, key: `${userField}.client-key` }
  if (cert && !key) throw new InvalidConfig(`${fields.key} is required with ${fields.cert}`)
  return {
    headers: {
      ...inlineHeaders(read),
      ...(token && bearer(token, `${userField}.tokenFile`)),
    },
    ...(cert ? checkedKeyPair({ cert, key: key! }, fields) : inlinePair(read)),
  }
}

function inlinePair(read: KubeconfigContext): Omit<Authorization, 'headers'> {
  const { headers: _headers, ...pair } = inlineAuthorization(read)
  return pair
}
