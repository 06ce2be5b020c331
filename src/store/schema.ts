/** The tables of migrations/, as types for Kysely. int8 arrives as text, so that no digit is lost. */
import type { ColumnType, Generated } from 'kysely'

type Int8 = ColumnType<string, string | bigint | number, string | bigint | number>
/** Read as raw text: the store never lets a driver parse JSON. */
type JsonText = ColumnType<string, string, string>
type Time = ColumnType<Date, Date | string, Date | string>

interface ClusterTable {
  id: Generated<number>
  name: string
  registration_uid: string
  labels: ColumnType<string, string | undefined, string>
  version: string | null
  stale_reason: string | null
  stale_since: ColumnType<Date | null, Date | null | undefined, Date | null>
  registered_at: Generated<Date>
  removed_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}

interface ClusterLeaseTable {
  cluster_id: number
  holder: string
  epoch: Int8
  expires_at: Time
  last_seq: ColumnType<string, string | undefined, string>
}

interface ResourceTypeTable {
  id: Generated<number>
  api_group: string
  resource: string
}

interface ColumnSetTable {
  id: Generated<number>
  digest: string
  columns: string
}

interface ClusterResourceTable {
  cluster_id: number
  type_id: number
  kind: string
  list_kind: string
  singular_name: Generated<string>
  short_names: Generated<string[]>
  categories: Generated<string[]>
  namespaced: boolean
  api_version: string
  served_versions: string[]
  columns_id: number | null
  resource_version: string | null
  control_plane_uid: string | null
  status: Generated<string>
  reason: Generated<string>
  message: Generated<string>
  changed_at: Generated<Date>
  covers: Generated<string>
  remake: Generated<boolean>
  reconciled_at: Date | null
  reconcile_wanted_at: Date | null
}

interface ObjectTable {
  cluster_id: number
  type_id: number
  namespace: string
  name: string
  uid: string
  resource_version: string
  api_version: string
  created_at: Date | null
  columns_id: number
  rv_offset: number
  tokens: string[]
  cells: string
  head: string
  metadata: string
  tail: string
}

interface ObjectStatusTable {
  cluster_id: number
  type_id: number
  namespace: string
  name: string
  tokens: string[]
}

interface ChangeTable {
  cluster_id: number
  seq: Int8
  at: Generated<Date>
  type_id: number
  op: 'A' | 'M' | 'D'
  namespace: string
  name: string
  uid: string
  resource_version: string
}

interface ChangeBatchTable {
  cluster_id: number
  last_seq: Int8
  first_seq: Int8
  last_revision: Int8 | null
}

interface FleetRevisionTable {
  only_row: Generated<boolean>
  latest: Int8
  floor: Int8
  timeline: string | null
}

interface OpenApiDocumentTable {
  digest: string
  body: Buffer
}

interface ClusterOpenApiTable {
  cluster_id: number
  path: string
  digest: string
}

interface RegistrationTable {
  api_group: string
  resource: string
  name: string
  uid: string
  resource_version: Int8
  object: JsonText
  credentials: Buffer | null
}

interface RegistrationRevisionTable {
  only_row: Generated<boolean>
  latest: Int8
  floor: Int8
  timeline: string | null
}

interface RegistrationEventTable {
  resource_version: Int8
  at: Generated<Date>
  api_group: string
  resource: string
  name: string
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: JsonText
  previous: string | null
}

interface AccessTokenTable {
  id: string
  digest: Buffer
  name: string
  user_name: string
  groups: string[]
  created_at: Generated<Date>
  expires_at: Time
  revoked_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}

export interface Database {
  cluster: ClusterTable
  cluster_lease: ClusterLeaseTable
  resource_type: ResourceTypeTable
  column_set: ColumnSetTable
  cluster_resource: ClusterResourceTable
  object: ObjectTable
  object_status: ObjectStatusTable
  change: ChangeTable
  change_batch: ChangeBatchTable
  fleet_revision: FleetRevisionTable
  openapi_document: OpenApiDocumentTable
  cluster_openapi: ClusterOpenApiTable
  registration: RegistrationTable
  registration_revision: RegistrationRevisionTable
  registration_event: RegistrationEventTable
  access_token: AccessTokenTable
}
