/** Reads a watch line by line, as a client does that knows nothing of the server. */
import { Agent, request } from 'undici'
import { until } from './until.ts'

export interface WatchReader {
  readonly status: number
  readonly lines: readonly string[]
  /** Every piece of the body as it arrived. */
  readonly chunks: readonly Buffer[]
  /** `open`, `ended` by the server's will, or `broken`. */
  readonly state: () => 'open' | 'ended' | 'broken'
  waitForLines(count: number): Promise<void>
  waitForEnd(): Promise<void>
  close(): void
}

export async function readWatch(
  url: string,
  headers: Record<string, string> = {},
): Promise<WatchReader> {
  const agent = new Agent({ bodyTimeout: 0, keepAliveTimeout: 1 })
  const abort = new AbortController()
  const answer = await request(url, { headers, dispatcher: agent, signal: abort.signal })
  const chunks: Buffer[] = []
  const lines: string[] = []
  let rest = Buffer.alloc(0)
  let state: 'open' | 'ended' | 'broken' = 'open'
  answer.body.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    rest = Buffer.concat([rest, chunk])
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      lines.push(rest.toString('utf8', 0, end))
      rest = rest.subarray(end + 1)
    }
  })
  answer.body.on('end', () => {
    state = 'ended'
  })
  answer.body.on('error', () => {
    state = 'broken'
  })
  return {
    status: answer.statusCode,
    lines,
    chunks,
    state: () => state,
    waitForLines: async (count) => await until(() => lines.length >= count),
    waitForEnd: async () => await until(() => state !== 'open'),
    close: () => abort.abort(),
  }
}
