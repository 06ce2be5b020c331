/** Kinds that describe the API itself: API services, storage versions and their migrations. */
import { qualifiedResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  type Fields,
  fields,
  isSet,
  items,
  nameOf,
  text,
  textOrUnset,
  UNSET,
} from './read-field.ts'
import { shortenedList } from './shortened-list.ts'

export const apiKinds: PrintersByResource = {
  'apiservices.apiregistration.k8s.io': apiServiceCells,
  'storageversions.internal.apiserver.k8s.io': storageVersionCells,
  'storageversionmigrations.storagemigration.k8s.io': migrationCells,
}

function apiServiceCells(object: KubeObject): readonly Cell[] {
  const { service } = fields(object.spec)
  const { namespace, name } = fields(service)
  return [
    nameOf(object),
    isSet(service) ? `${text(namespace)}/${text(name)}` : 'Local',
    availability(fields(object.status)),
    ageOf(object),
  ]
}

/** `False (MissingEndpoints)`: a reason is given only for what is not available. */
function availability(status: Fields): string {
  const available = items(status.conditions)
    .map(fields)
    .find(({ type }) => type === 'Available')
  if (available === undefined) return 'Unknown'
  const reason = text(available.reason)
  const state = text(available.status)
  return state === 'True' || reason === '' ? state : `${state} (${reason})`
}

function storageVersionCells(object: KubeObject): readonly Cell[] {
  const { commonEncodingVersion, storageVersions } = fields(object.status)
  const versions = items(storageVersions).map((item) => {
    const { apiServerID, encodingVersion } = fields(item)
    return `${text(apiServerID)}=${text(encodingVersion)}`
  })
  return [
    nameOf(object),
    textOrUnset(commonEncodingVersion),
    shortenedList(versions) || UNSET,
    ageOf(object),
  ]
}

function migrationCells(object: KubeObject): readonly Cell[] {
  const { group, resource } = fields(fields(object.spec).resource)
  const state = items(fields(object.status).conditions)
    .map(fields)
    .filter(({ status }) => status === 'True')
    .map(({ type }) => type)
    .findLast((type) => type === 'Running' || type === 'Failed' || type === 'Succeeded')
  return [
    nameOf(object),
    qualifiedResource({ group: text(group), resource: text(resource) }),
    text(state) || 'Unknown',
  ]
}
