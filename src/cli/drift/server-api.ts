/** A server's API by a kubeconfig of its reader: what `token create --kubeconfig` wrote, or its own. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { systemClock } from '../../clock.ts'
import { ApiFailure, type ReadApi } from '../../drift/api-source.ts'
import { serverRoot } from '../../kube/fleet-prefix.ts'
import { credentialsFromKubeconfig } from '../../sync/credentials.ts'
import { InvalidConfig, type MemberAccess } from '../../sync/member-access.ts'
import { MemberClient } from '../../sync/member-client.ts'
import { MemberError } from '../../sync/member-error.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { version } from '../version.ts'

export interface ServerRequest {
  readonly kubeconfig: string
  /** Left out, the current one. */
  readonly context?: string | undefined
  /** Of a kubeconfig that cannot be used. */
  readonly usageExitCode: number
}

/** A server that is asked too much by one user says when to come back. */
const PATIENT_ATTEMPTS = 10
const MOST_PATIENCE_SECONDS = 10

/** Runs `work` with the API below the server's root, whatever of it the kubeconfig points at. */
export async function withServer<T>(
  request: ServerRequest,
  work: (read: ReadApi) => Promise<T>,
): Promise<T> {
  const access = accessFrom(request)
  const client = new MemberClient(access, { userAgent: `fleetglass/${version()}` })
  const read: ReadApi = async (path, query) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.readJson({ path, query, asked: `read ${path}` })
      } catch (error) {
        if (!(error instanceof MemberError)) throw error
        const isBusy = error.failure === 'throttled' && attempt < PATIENT_ATTEMPTS
        if (!isBusy) throw new ApiFailure(error.message, error.statusCode)
        const seconds = Math.min(error.retryAfterSeconds ?? 1, MOST_PATIENCE_SECONDS)
        await systemClock.sleep(seconds * 1000)
      }
    }
  }
  try {
    return await work(read)
  } finally {
    await client.close()
  }
}

function accessFrom({ kubeconfig, context, usageExitCode }: ServerRequest): MemberAccess {
  const path = resolve(kubeconfig)
  try {
    const access = credentialsFromKubeconfig(readFileSync(path, 'utf8'), {
      ...{ field: kubeconfig, trusted: true, baseDir: dirname(path) },
      ...(context !== undefined && { context }),
    })
    return { ...access, server: serverRoot(access.server) }
  } catch (error) {
    const why =
      error instanceof InvalidConfig ? error.message : `${kubeconfig}: ${messageOf(error)}`
    throw new CommandFailure(`--kubeconfig: ${why}`, { exitCode: usageExitCode })
  }
}
