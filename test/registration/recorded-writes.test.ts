/** What a real API server recorded in managedFields for each kubectl command, write by write. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/kube-object.ts'
import { jsonPatch } from '../../src/registration/json-patch.ts'
import { parseJson } from '../../src/registration/json-text.ts'
import { type Manager, recordUpdate } from '../../src/registration/managed-fields.ts'
import { mergePatch } from '../../src/registration/merge-patch.ts'
import { METADATA, type Schema } from '../../src/registration/schema.ts'
import { applyObject } from '../../src/registration/server-side-apply.ts'
import recorded from '../recorded/kubectl-writes.json' with { type: 'json' }

/** The recorded kind: a spec of anything. */
const WIDGET: Schema = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: METADATA,
    spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}

interface Request {
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly body?: string
  readonly response: string
}

const objectOf = (text: string) => parseJson(text).value as JsonObject

/** The server's own fields are not what is compared: they are taken from the recording. */
function asStored(object: JsonObject, want: JsonObject): JsonObject {
  const { creationTimestamp, generation, resourceVersion, uid } = want.metadata as JsonObject
  const metadata = { ...(object.metadata as JsonObject), creationTimestamp, generation }
  return { ...object, metadata: { ...metadata, resourceVersion, uid } }
}

function managerOf({ path }: Request, operation: Manager['operation']): Manager {
  const manager = new URL(path, 'http://x').searchParams.get('fieldManager')!
  return { manager, operation, apiVersion: 'widgets.example.com/v1alpha1', subresource: '' }
}

/** The newest time in an object is that of the write that made it. */
function timeOf(want: JsonObject): string {
  const times = [...JSON.stringify(want).matchAll(/"time":"([^"]+)"/g)].map(([, time]) => time!)
  return times.toSorted().at(-1)!
}

function write(live: JsonObject, request: Request): JsonObject {
  const want = objectOf(request.response)
  const body = parseJson(request.body!).value
  const time = timeOf(want)
  const update = (now: JsonObject) =>
    recordUpdate({ live, now, schema: WIDGET, by: managerOf(request, 'Update'), time })
  switch (request.contentType) {
    case 'application/json':
      return update(body as JsonObject)
    case 'application/merge-patch+json':
      return update(mergePatch(live, body) as JsonObject)
    case 'application/json-patch+json':
      return update(jsonPatch(live, body) as JsonObject)
    case 'application/apply-patch+yaml':
      return applyObject({
        live,
        applied: body as JsonObject,
        schema: WIDGET,
        by: managerOf(request, 'Apply'),
        force: request.path.includes('force=true'),
        time,
      })
    default:
      throw new Error(`unexpected ${request.contentType}`)
  }
}

const NOTHING: JsonObject = { apiVersion: 'widgets.example.com/v1alpha1', kind: 'Widget' }

for (const client of ['v1.33.1', 'v1.27.16']) {
  describe(`kubectl ${client}`, () => {
    let live = NOTHING
    let writes = 0
    for (const { command, requests } of recorded.filter((each) => each.client === client)) {
      test(command, () => {
        for (const request of requests as readonly Request[]) {
          if (!request.contentType || request.method === 'DELETE') continue
          const want = objectOf(request.response)
          const got = asStored(write(live, request), want)
          expect(got).toEqual(want)
          if (!request.path.includes('dryRun')) live = want
          writes++
        }
      })
    }
    test('every write was looked at', () => expect(writes).toBe(11))
  })
}
