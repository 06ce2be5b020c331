/** Reads the recordings of a real kube-apiserver 1.36 that the simulated members are made of. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type GroupResource, parseApiVersion } from '../kube/group-resource.ts'
import { eventAsNewer } from './conversions.ts'
import { memberNamed, membersOf } from './member/json-text.ts'
import type { MemberResource, Subresource } from './member/served-resources.ts'

const DIRECTORY = join(import.meta.dirname, 'recorded')

export interface RecordedObject {
  readonly of: GroupResource
  /** Byte for byte as recorded. */
  readonly text: Buffer
}

export function recordedObjects(): RecordedObject[] {
  const text = gunzipSync(readFileSync(join(DIRECTORY, 'objects.ndjson.gz'))).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const bytes = Buffer.from(line)
      const { apiVersion, resource } = JSON.parse(line) as { apiVersion: string; resource: string }
      const object = memberNamed(membersOf(bytes), 'object')!
      return {
        of: { group: parseApiVersion(apiVersion).group, resource },
        text: bytes.subarray(object.valueStart, object.end),
      }
    })
}

interface RecordedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface RecordedResource {
  readonly resource: string
  readonly responseKind: RecordedKind
  readonly scope: string
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: ReadonlyArray<{
    readonly subresource: string
    readonly responseKind: RecordedKind
    readonly verbs: readonly string[]
  }>
}

interface RecordedDiscovery {
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly name?: string }
    readonly versions: ReadonlyArray<{
      readonly version: string
      readonly resources: readonly RecordedResource[]
    }>
  }>
}

/** Every built-in resource of Kubernetes 1.36, as its discovery tells it. */
export function builtInResources(): MemberResource[] {
  const text = gunzipSync(readFileSync(join(DIRECTORY, 'discovery.json.gz'))).toString()
  const { api, apis } = JSON.parse(text) as { api: RecordedDiscovery; apis: RecordedDiscovery }
  return [...api.items, ...apis.items].flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources
        .filter(({ responseKind }) => responseKind.group === '')
        .map((resource) => memberResource({ group: metadata.name ?? '', version }, resource))
        .map((resource) =>
          resource.group === 'events.k8s.io' ? { ...resource, convert: eventAsNewer } : resource,
        ),
    ),
  )
}

function memberResource(
  of: { group: string; version: string },
  recorded: RecordedResource,
): MemberResource {
  return {
    ...of,
    resource: recorded.resource,
    kind: recorded.responseKind.kind,
    singularName: recorded.singularResource,
    shortNames: recorded.shortNames ?? [],
    categories: recorded.categories ?? [],
    namespaced: recorded.scope === 'Namespaced',
    verbs: recorded.verbs,
    subresources: (recorded.subresources ?? []).map(
      ({ subresource, responseKind: { group, version, kind }, verbs }): Subresource => ({
        name: subresource,
        kind,
        verbs,
        ...(group !== '' && { group, version }),
      }),
    ),
  }
}

/** Path below `/openapi/v3/`, or `v2` → the gzipped document. */
export function recordedOpenApi(): Map<string, Buffer> {
  const directory = join(DIRECTORY, 'openapi')
  const v3 = readdirSync(directory).map((file): [string, Buffer] => [
    file.replace('.json.gz', '').replaceAll('_', '/'),
    readFileSync(join(directory, file)),
  ])
  return new Map([...v3, ['v2', readFileSync(join(DIRECTORY, 'openapi-v2.json.gz'))]])
}
