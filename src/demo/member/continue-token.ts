/** A member's continue token: the snapshot's revision and the key to start from, as etcd3 has it. */
import { MemberError } from './reply.ts'

export interface ContinueToken {
  /** -1 goes on with whatever there is now. */
  readonly revision: bigint
  /** Everything after this key; relative to the namespace that is listed. */
  readonly after: string
}

const VERSION = 'meta.k8s.io/v1'

export function writeContinue({ revision, after }: ContinueToken): string {
  const text = `{"v":"${VERSION}","rv":${revision},"start":${JSON.stringify(`/${after}\0`)}}`
  return Buffer.from(text).toString('base64url')
}

/** @throws {@link MemberError} 400 for what is none of our tokens. */
export function readContinue(token: string): ContinueToken {
  const text = Buffer.from(token, 'base64url').toString()
  const match = /^\{"v":"meta\.k8s\.io\/v1","rv":(-?\d+),"start":(".*")\}$/.exec(text)
  const start = match ? readStart(match[2]!) : undefined
  if (!match || !start?.startsWith('/')) throw invalid(text)
  return { revision: BigInt(match[1]!), after: start.slice(1).replace(/\0$/, '') }
}

function readStart(json: string): string | undefined {
  try {
    return JSON.parse(json) as string
  } catch {
    return undefined // no JSON string after all
  }
}

function invalid(text: string): MemberError {
  const problem =
    text === ''
      ? 'unexpected end of JSON input'
      : `invalid character '${text[0]}' looking for beginning of value`
  return new MemberError({
    code: 400,
    reason: 'BadRequest',
    message: `invalid continue token: continue key is not valid: ${problem}`,
  })
}
