/**
 * Mirrored objects as a syncer puts them: encoded from a member's JSON, printed, stored.
 *
 * For tests that read; the writing itself is tested in test/sync and test/store.
 */
import type { GroupVersionResource } from '../../src/kube/group-resource.ts'
import { apiVersionOf } from '../../src/kube/group-resource.ts'
import { storedAs } from '../../src/kube/moved-resources.ts'
import type { Printer } from '../../src/printers/printer.ts'
import { printerFor } from '../../src/printers/printers.ts'
import { putClusterResource, setSyncStatus } from '../../src/store/cluster-resources.ts'
import { registerCluster } from '../../src/store/clusters.ts'
import type { Store } from '../../src/store/connect.ts'
import { acquireLease, type Lease } from '../../src/store/leases.ts'
import { applyChanges, finishList } from '../../src/store/put-objects.ts'
import { ensureColumnSet, ensureType } from '../../src/store/resource-types.ts'
import { createObjectEncoder } from '../../src/sync/encode-object.ts'

export interface MemberType extends GroupVersionResource {
  readonly kind: string
  readonly listKind?: string
  readonly namespaced: boolean
  /** Left out: the one version only. */
  readonly servedVersions?: readonly string[]
  /** Left out: the built-in one. */
  readonly printer?: Printer
}

/** Without kind and apiVersion, as in a member's list; a Buffer is taken as it is. */
export type MemberObject = Buffer | Readonly<Record<string, unknown>>

const BATCH_ROWS = 500
/** Whatever a test's own clock says, the syncer is at work. */
const LEASE_SECONDS = 10 * 365 * 86_400
const keyring = {
  digest: (value: Uint8Array) => `hmac-sha256:${Buffer.from(value).toString('hex')}`,
}

/** A member cluster that tests fill by hand. */
export class FilledCluster {
  readonly name: string
  readonly id: number
  readonly lease: Lease
  readonly #store: Store

  private constructor(store: Store, name: string, lease: Lease) {
    this.#store = store
    this.name = name
    this.id = lease.clusterId
    this.lease = lease
  }

  static async create(
    store: Store,
    name: string,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<FilledCluster> {
    const registrationUid = crypto.randomUUID()
    const clusterId = await registerCluster(store, { name, registrationUid, labels })
    const lease = await acquireLease(store, { clusterId, holder: 'test', seconds: LEASE_SECONDS })
    if (!lease) throw new Error(`no lease for ${name}`)
    return new FilledCluster(store, name, lease)
  }

  /** Puts all objects of one type, as a complete list does. */
  async fill(type: MemberType, objects: Iterable<MemberObject>): Promise<void> {
    const { target, encode } = await this.#prepare(type)
    const seen = new Set<string>()
    let batch: MemberObject[] = []
    const flush = async () => {
      const rows = batch.map((object) => encode(bytesOf(object)))
      for (const { namespace, name } of rows) seen.add(`${namespace}/${name}`)
      const changes = rows.map((row) => ({ op: 'put' as const, row }))
      const { refused } = await applyChanges(this.#store, target, { changes })
      if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`)
      batch = []
    }
    for (const object of objects) {
      batch.push(object)
      if (batch.length === BATCH_ROWS) await flush()
    }
    await flush()
    const position = { resourceVersion: '1000', controlPlaneUid: 'test' }
    await finishList(this.#store, target, { seen, position })
    const { typeId } = target
    const status = { typeId, status: 'Syncing' as const, reason: '', message: '' }
    await setSyncStatus(this.#store, this.lease, status)
  }

  async #prepare(type: MemberType) {
    const printer = type.printer ?? printerFor(type)
    const typeId = await ensureType(this.#store, storedAs(type))
    const columnsId = await ensureColumnSet(this.#store, printer.columns)
    const apiVersion = apiVersionOf(type)
    await putClusterResource(this.#store, this.lease, {
      typeId,
      kind: type.kind,
      listKind: type.listKind ?? `${type.kind}List`,
      singularName: type.kind.toLowerCase(),
      ...{ shortNames: [], categories: [], namespaced: type.namespaced, apiVersion, columnsId },
      servedVersions: type.servedVersions ?? [apiVersion],
    })
    const encode = createObjectEncoder({
      ...{ cluster: this.name, of: type, printer, keyring },
      secretValues: 'digest',
    })
    return { target: { lease: this.lease, typeId, columnsId }, encode }
  }
}

function bytesOf(object: MemberObject): Buffer {
  return Buffer.isBuffer(object) ? object : Buffer.from(JSON.stringify(object))
}

let nextUid = 0

/** The `metadata` of an object, with what every object has. */
export function metadata(
  name: string,
  more: { readonly namespace?: string; readonly [field: string]: unknown } = {},
): Readonly<Record<string, unknown>> {
  nextUid++
  return {
    name,
    uid: `00000000-0000-4000-8000-${String(nextUid).padStart(12, '0')}`,
    resourceVersion: String(100 + nextUid),
    creationTimestamp: '2026-12-01T03:00:00Z',
    ...more,
  }
}
