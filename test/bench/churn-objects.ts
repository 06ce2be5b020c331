/**
 * Many updates of the same pods, as a syncer writes them: what a mirror that lives for long does to
 * the size of its database.
 */
import { randomBytes } from 'node:crypto'
import { createKeyring } from '../../src/keyring.ts'
import { printerFor } from '../../src/printers/printers.ts'
import type { Store } from '../../src/store/connect.ts'
import type { ObjectRow } from '../../src/store/object-row.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { createObjectEncoder } from '../../src/sync/encode-object.ts'
import { type TestCluster, testCluster } from '../store/objects.ts'
import { mixed, pod } from './member-objects.ts'

/** As a busy member's events arrive together. */
const BATCH_ROWS = 200

export interface ChurnSizes {
  readonly clusters: number
  readonly podsPerCluster: number
}

/** Pods of some clusters, and the rows that their changes make. */
export class Churn {
  readonly #store: Store
  readonly #sizes: ChurnSizes
  readonly #clusters: readonly TestCluster[]
  readonly #encoders
  /** How many updates were made. */
  #updates = 0

  static async start(store: Store, sizes: ChurnSizes): Promise<Churn> {
    const clusters: TestCluster[] = []
    for (let i = 0; i < sizes.clusters; i++) {
      clusters.push(await testCluster(store, `dot-${String(i).padStart(2, '0')}`))
    }
    const churn = new Churn(store, sizes, clusters)
    await churn.#list()
    return churn
  }

  private constructor(store: Store, sizes: ChurnSizes, clusters: readonly TestCluster[]) {
    this.#store = store
    this.#sizes = sizes
    this.#clusters = clusters
    const of = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' }
    const keyring = createKeyring(randomBytes(32))
    this.#encoders = clusters.map(({ name }) =>
      createObjectEncoder({
        ...{ cluster: name, of, printer: printerFor(of), keyring, secretValues: 'digest' },
      }),
    )
  }

  /** Changes pods here and there, as rollouts and crash loops do: status, tokens, body. */
  async update(updates: number): Promise<void> {
    const { clusters, podsPerCluster } = this.#sizes
    for (let done = 0; done < updates; done += BATCH_ROWS) {
      const cluster = mixed(this.#updates) % clusters
      const rows = new Map<number, ObjectRow>()
      while (rows.size < Math.min(BATCH_ROWS, updates - done)) {
        const index = mixed(++this.#updates, 7) % podsPerCluster
        rows.set(index, this.#row(cluster, index))
      }
      await this.#write(cluster, [...rows.values()])
    }
  }

  async #list(): Promise<void> {
    const { clusters, podsPerCluster } = this.#sizes
    for (let cluster = 0; cluster < clusters; cluster++) {
      for (let first = 0; first < podsPerCluster; first += BATCH_ROWS) {
        const indexes = Array.from(
          { length: Math.min(BATCH_ROWS, podsPerCluster - first) },
          (_, i) => first + i,
        )
        await this.#write(
          cluster,
          indexes.map((index) => this.#row(cluster, index)),
        )
      }
    }
  }

  #row(cluster: number, index: number): ObjectRow {
    const changes = this.#updates
    const made = { cluster, index, changes, resourceVersion: 1_000_000 + changes }
    const workloads = Math.max(1, Math.floor(this.#sizes.podsPerCluster / 10))
    return this.#encoders[cluster]!(Buffer.from(JSON.stringify(pod(made, workloads))))
  }

  async #write(cluster: number, rows: readonly ObjectRow[]): Promise<void> {
    await applyChanges(this.#store, this.#clusters[cluster]!.target, {
      changes: rows.map((row) => ({ op: 'put', row })),
    })
  }
}

export async function databaseBytes(store: Store): Promise<number> {
  const { rows } = await store.pool.query<{ bytes: string }>(
    'select pg_database_size(current_database()) as bytes',
  )
  return Number(rows[0]!.bytes)
}
