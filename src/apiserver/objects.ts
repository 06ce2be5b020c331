/** What the routes of this server read, as functions: a database is put behind them in server.ts. */
import type { GroupResource } from '../kube/group-resource.ts'
import type { AbsentFields, FieldQuestion } from '../store/absent-fields.ts'
import type { CountedGroup, CountRequest } from '../store/count-groups.ts'
import type { CollectionRequest } from '../store/list-collection.ts'
import type { ListRequest, RawRow } from '../store/list-request.ts'
import type { FoundOwners, OwnerSearch } from '../store/owners.ts'
import type { ReadScope } from '../store/read-scope.ts'
import type { Freshness } from '../store/read-view.ts'

export interface GetRequest {
  readonly type: GroupResource & { readonly id: number }
  readonly scope: ReadScope
  /** `''` when the object is cluster-scoped. */
  readonly namespace: string
  readonly name: string
  readonly want: ListRequest['want']
}

export interface ObjectReader {
  /** For one request: all it reads is at least as new as it asks for. */
  readonly view: (freshness: Freshness) => Promise<ObjectView>
}

export interface ObjectView {
  /** In the order asked for; what is not consumed is not read. */
  readonly list: (request: ListRequest, signal: AbortSignal) => AsyncGenerator<readonly RawRow[]>
  /** How many objects `list` would give, `limit` left aside. */
  readonly count: (request: ListRequest) => Promise<number>
  /** One per cluster that has it. */
  readonly get: (request: GetRequest) => Promise<readonly RawRow[]>
  /** Objects of several types, in one order. */
  readonly listCollection: (
    request: CollectionRequest,
    signal: AbortSignal,
  ) => AsyncGenerator<readonly RawRow[]>
  readonly countCollection: (request: CollectionRequest) => Promise<number>
  readonly countGroups: (request: CountRequest) => Promise<readonly CountedGroup[]>
  /** The parents of the objects that an owner search is after. */
  readonly owners: (search: OwnerSearch) => Promise<FoundOwners>
  /** Fields that none of a few objects has. */
  readonly absentFields: (question: FieldQuestion) => Promise<AbsentFields>
  /** The fleet's, a decimal integer: everything up to it is seen. */
  readonly revision: () => Promise<string>
}
