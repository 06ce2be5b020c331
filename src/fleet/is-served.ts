/**
 * Whether a cluster has a resource, by its own discovery.
 *
 * A 404 alone does not tell: a proxy or a wrong path says the same of everything.
 */
import { isRecord } from '../printers/read-field.ts'
import { Unseen } from './cause.ts'
import type { MemberReader } from './member-reader.ts'
import { readFailure } from './member-reader.ts'
import { recordsIn } from './read-object.ts'
import { type SweptResource, sweptType } from './swept-resources.ts'

/** @throws what the reader throws, or when the answer is no discovery document. */
export async function isServed(
  resource: SweptResource,
  reader: MemberReader,
  signal: AbortSignal,
): Promise<boolean> {
  const { group, apiVersions } = sweptType(resource)
  if (group === '') return hasResource(await reader.readJson('/api/v1', signal), resource)
  const groups = documentOf(await reader.readJson('/apis', signal), 'APIGroupList')
  const served = recordsIn(groups.groups).flatMap(({ versions }) =>
    recordsIn(versions).map(({ groupVersion }) => groupVersion),
  )
  for (const apiVersion of apiVersions.filter((one) => served.includes(one))) {
    const document = await optional(reader.readJson(`/apis/${apiVersion}`, signal))
    if (document !== undefined && hasResource(document, resource)) return true
  }
  return false
}

function hasResource(document: unknown, resource: SweptResource): boolean {
  const { resources } = documentOf(document, 'APIResourceList')
  return recordsIn(resources).some(({ name }) => name === resource)
}

function documentOf(document: unknown, kind: string): Readonly<Record<string, unknown>> {
  if (isRecord(document) && document.kind === kind) return document
  throw new Unseen('rubbish')
}

async function optional(reading: Promise<unknown>): Promise<unknown> {
  try {
    return await reading
  } catch (error) {
    if (readFailure(error) === 'not-found') return undefined
    throw error
  }
}
