/** Persistent volumes and claims. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { quantityText } from './quantity.ts'
import {
  ageOf,
  type Fields,
  fields,
  isSet,
  items,
  nameOf,
  text,
  textOrUnset,
} from './read-field.ts'

export const volumes: PrintersByResource = {
  persistentvolumes: volumeCells,
  persistentvolumeclaims: claimCells,
}

/** Where the storage class stood before it had a field. Still wins over the field. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

/** In the order in which they are printed. */
const ACCESS_MODES = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const

function volumeCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const claim = fields(spec.claimRef)
  return [
    nameOf(object),
    quantityText(fields(spec.capacity).storage),
    accessModes(spec.accessModes),
    text(spec.persistentVolumeReclaimPolicy),
    phaseOf(object),
    isSet(spec.claimRef) ? `${text(claim.namespace)}/${text(claim.name)}` : '',
    storageClass(object, spec),
    textOrUnset(spec.volumeAttributesClassName),
    text(fields(object.status).reason),
    ageOf(object),
    textOrUnset(spec.volumeMode),
  ]
}

function claimCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const status = fields(object.status)
  const volume = text(spec.volumeName)
  const bound = volume !== ''
  return [
    nameOf(object),
    phaseOf(object),
    volume,
    bound ? quantityText(fields(status.capacity).storage) : '',
    bound ? accessModes(status.accessModes) : '',
    storageClass(object, spec),
    textOrUnset(spec.volumeAttributesClassName),
    ageOf(object),
    textOrUnset(spec.volumeMode),
  ]
}

function phaseOf(object: KubeObject): string {
  const deleted = isSet(fields(object.metadata).deletionTimestamp)
  return deleted ? 'Terminating' : text(fields(object.status).phase)
}

function storageClass(object: KubeObject, spec: Fields): string {
  const annotation = fields(fields(object.metadata).annotations)[CLASS_ANNOTATION]
  return typeof annotation === 'string' ? annotation : text(spec.storageClassName)
}

function accessModes(value: unknown): string {
  const modes = items(value)
  return ACCESS_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}
