/** `/openapi/v3`: the index of documents, and the documents of what is served. `/openapi/v2`: all in one. */
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { jsonReply, type Reply, textReply } from './reply.ts'
import type { MemberRequest } from './request.ts'
import type { ServedResources } from './served-resources.ts'

/** Path below `/openapi/v3/`, such as `apis/apps/v1`, or `v2`, → the gzipped JSON document. */
export type OpenApiDocuments = ReadonlyMap<string, Buffer>

export function answerOpenApi(
  request: MemberRequest,
  of: { documents: OpenApiDocuments; resources: ServedResources; hasV3: boolean },
): Reply {
  if (request.path === '/openapi/v2') return documentReply(request, of.documents.get('v2'))
  if (!of.hasV3) return documentReply(request, undefined)
  const path = request.path.replace(/^\/openapi\/v3\/?/, '')
  if (path === '') return index(of)
  return documentReply(request, isServed(path, of.resources) ? of.documents.get(path) : undefined)
}

function documentReply(request: MemberRequest, document: Buffer | undefined): Reply {
  if (!document) return textReply(404, '404 page not found\n')
  const etag = `"${hashOf(document)}"`
  const headers = { etag, vary: 'Accept-Encoding, Accept' }
  if (request.headers['if-none-match'] === etag) {
    return { code: 304, contentType: 'application/json', headers, body: Buffer.alloc(0) }
  }
  const reply = { code: 200, contentType: 'application/json', headers }
  if (/\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')) {
    return { ...reply, body: document, headers: { ...headers, 'content-encoding': 'gzip' } }
  }
  return { ...reply, body: gunzipSync(document) }
}

function index(of: { documents: OpenApiDocuments; resources: ServedResources }): Reply {
  const served = [...of.documents].filter(([path]) => isServed(path, of.resources))
  return jsonReply({
    paths: Object.fromEntries(
      served.map(([path, document]) => [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(document)}` },
      ]),
    ),
  })
}

function isServed(path: string, resources: ServedResources): boolean {
  const [root, ...rest] = path.split('/')
  const [group, version] = root === 'api' ? ['', rest[0]] : rest
  return (
    resources
      .groups()
      .get(group ?? '')
      ?.includes(version ?? '') ?? false
  )
}

const hashes = new WeakMap<Buffer, string>()

function hashOf(document: Buffer): string {
  const known = hashes.get(document)
  if (known) return known
  const hash = createHash('sha512').update(document).digest('hex').toUpperCase()
  hashes.set(document, hash)
  return hash
}
