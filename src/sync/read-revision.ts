/** Asks a member at which resourceVersion a type is now, as cheaply as it can be asked. */
import type { ListSource } from './list-pages.ts'

const METADATA_ONLY =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'

/** `''` when it does not say. @throws MemberError */
export async function readRevision(
  { client, resource, query }: ListSource,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const list = (await client.readJson({
    path,
    query: { ...query, limit: '1' },
    accept: METADATA_ONLY,
    asked: `list ${resource}`,
    signal,
  })) as { metadata?: { resourceVersion?: unknown } } | null
  const revision = list?.metadata?.resourceVersion
  return typeof revision === 'string' ? revision : ''
}
