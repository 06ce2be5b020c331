/** All resources of `fleet.fleetglass.io`, and what discovery and OpenAPI say of them. */
import { type OpenApiV3Document, openApiOf } from '../../registration/open-api.ts'
import { CLUSTER_HEALTHS } from './cluster-healths.ts'
import { CRD_DRIFTS } from './crd-drifts.ts'
import { FINDINGS } from './findings.ts'
import { IMAGE_DRIFTS } from './image-drifts.ts'
import type { FleetKind } from './kind.ts'
import { VERSION_DRIFTS } from './version-drifts.ts'

export const FLEET_KINDS: readonly FleetKind[] = [
  CLUSTER_HEALTHS,
  CRD_DRIFTS,
  FINDINGS,
  IMAGE_DRIFTS,
  VERSION_DRIFTS,
]

export function fleetOpenApi(): ReadonlyMap<string, OpenApiV3Document> {
  return openApiOf(FLEET_KINDS)
}
