/** Secrets with texts in them, of the namespace we run in. */
import { type ManagementClient, MERGE_PATCH } from '../../management/client.ts'
import { orMissing } from '../../management/management-error.ts'

/** Of whatever the certificates' command writes. */
export const FIELD_MANAGER = 'fleetglass-certificates'

export interface StoredSecret {
  readonly name: string
  /** Undefined when there is none. */
  readonly resourceVersion: string | undefined
  /** Decoded. */
  readonly data: Readonly<Record<string, string>>
}

interface SecretObject {
  readonly metadata: { readonly resourceVersion: string }
  readonly data?: Readonly<Record<string, string>>
}

/** @throws ManagementError, unless it is not there. */
export async function readSecret(client: ManagementClient, name: string): Promise<StoredSecret> {
  const found = await orMissing(client.request('GET', `${pathOf(client)}/${name}`))
  if (!found) return { name, resourceVersion: undefined, data: {} }
  const { metadata, data = {} } = found.body as SecretObject
  const decoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString('utf8'),
  ])
  return { name, resourceVersion: metadata.resourceVersion, data: Object.fromEntries(decoded) }
}

/**
 * @param data - undefined takes a key out; keys that are not named stay.
 * @throws ManagementError with code 409 when it was written since it was read.
 */
export async function writeSecret(
  client: ManagementClient,
  { name, resourceVersion }: StoredSecret,
  data: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const query = { fieldManager: FIELD_MANAGER }
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      value === undefined ? null : Buffer.from(value).toString('base64'),
    ]),
  )
  if (resourceVersion !== undefined) {
    await client.request('PATCH', `${pathOf(client)}/${name}`, {
      contentType: MERGE_PATCH,
      query,
      body: { metadata: { resourceVersion }, data: encoded },
    })
    return
  }
  const present = Object.entries(encoded).filter(([, value]) => value !== null)
  const labels = { 'app.kubernetes.io/name': 'fleetglass' }
  await client.request('POST', pathOf(client), {
    query,
    body: {
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls' },
      metadata: { name, labels },
      data: Object.fromEntries(present),
    },
  })
}

function pathOf({ namespace }: ManagementClient): string {
  return `/api/v1/namespaces/${namespace}/secrets`
}
