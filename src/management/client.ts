/**
 * A client of the management cluster's API server: whole requests here, lists and watches with the
 * engine that follows members (follow-objects.ts).
 */
import { type CountRequest, MemberClient } from '../sync/member-client.ts'
import type { ManagementAccess } from './access.ts'
import { noAnswer, refusalOf } from './management-error.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Left out: application/json. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Answer {
  /** 2xx. */
  readonly status: number
  /** Parsed JSON; the text where it is none, as of `/readyz`. */
  readonly body: unknown
}

export interface ManagementClient {
  /**
   * One request, answered within 30 s. Nothing is tried again, save after a 401 with a new token.
   *
   * @param path - below the server's address: `/api/v1/namespaces/kube-system/configmaps/x`.
   * @throws ManagementError for every other answer, and for none.
   */
  request(method: Method, path: string, options?: RequestOptions): Promise<Answer>
  /** For lists and watches: what the engine asks with. */
  readonly member: MemberClient
  /** In which our own Secrets and Leases are. */
  readonly namespace: string
  close(): Promise<void>
}

export interface ManagementClientOptions {
  /** `fleetglass/VERSION` */
  readonly userAgent: string
  readonly count?: CountRequest
}

const ANSWER_MILLISECONDS = 30_000
export const MERGE_PATCH = 'application/merge-patch+json'
/** JSON is YAML, too. */
export const APPLY_PATCH = 'application/apply-patch+yaml'

export function createManagementClient(
  { member: access, namespace }: ManagementAccess,
  options: ManagementClientOptions,
): ManagementClient {
  const member = new MemberClient(access, { ...options, answerMilliseconds: ANSWER_MILLISECONDS })
  return {
    request: (method, path, options = {}) => ask(member, { method, path, ...options }),
    member,
    namespace,
    close: () => member.close(),
  }
}

interface Asked extends RequestOptions {
  readonly method: Method
  readonly path: string
}

async function ask(
  member: MemberClient,
  { method, path, query, body, contentType, headers, signal }: Asked,
): Promise<Answer> {
  const asked = `${method} ${path}`
  const hasBody = body !== undefined
  const answer = await member
    .ask({
      ...{ method, path, asked },
      headers: {
        ...(hasBody && { 'content-type': contentType ?? 'application/json' }),
        ...headers,
      },
      ...(hasBody && { content: JSON.stringify(body) }),
      ...(query && { query }),
      ...(signal && { signal }),
    })
    .catch((error: unknown) => {
      throw noAnswer(error)
    })
  const parsed = parse(answer.body)
  const { statusCode } = answer
  if (statusCode >= 200 && statusCode < 300) return { status: statusCode, body: parsed }
  const retryAfter = answer.headers['retry-after']
  throw refusalOf({ code: statusCode, asked, body: parsed, retryAfter })
}

function parse(body: Buffer): unknown {
  const text = body.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
