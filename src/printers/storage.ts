/** The kinds of storage.k8s.io. */
import type { KubeObject } from '../kube/kube-object.ts'
import { createdAtOf } from './created-at.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  fields,
  isSet,
  items,
  NONE,
  nameOf,
  text,
  texts,
  truth,
  UNSET,
} from './read-field.ts'

export const storage: PrintersByResource = {
  'storageclasses.storage.k8s.io': storageClassCells,
  'volumeattributesclasses.storage.k8s.io': (object) => [
    nameOf(object),
    text(object.driverName),
    ageOf(object),
  ],
  'volumeattachments.storage.k8s.io': volumeAttachmentCells,
  'csidrivers.storage.k8s.io': csiDriverCells,
  'csinodes.storage.k8s.io': (object) => [
    nameOf(object),
    items(fields(object.spec).drivers).length,
    ageOf(object),
  ],
  'csistoragecapacities.storage.k8s.io': (object) => [nameOf(object), createdAtOf(object)],
}

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

function storageClassCells(object: KubeObject): readonly Cell[] {
  const annotations = fields(fields(object.metadata).annotations)
  const isDefault = DEFAULT_CLASS.some((annotation) => annotations[annotation] === 'true')
  return [
    isDefault ? `${nameOf(object)} (default)` : nameOf(object),
    text(object.provisioner),
    isSet(object.reclaimPolicy) ? text(object.reclaimPolicy) : 'Delete',
    isSet(object.volumeBindingMode) ? text(object.volumeBindingMode) : 'Immediate',
    truth(object.allowVolumeExpansion),
    ageOf(object),
  ]
}

function volumeAttachmentCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    text(spec.attacher),
    text(fields(spec.source).persistentVolumeName),
    text(spec.nodeName),
    truth(fields(object.status).attached),
    ageOf(object),
  ]
}

function csiDriverCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    isSet(spec.attachRequired) ? truth(spec.attachRequired) : true,
    truth(spec.podInfoOnMount),
    truth(spec.storageCapacity),
    isSet(spec.tokenRequests) ? audiences(spec.tokenRequests) : UNSET,
    truth(spec.requiresRepublish),
    texts(spec.volumeLifecycleModes).join(',') || NONE,
    ageOf(object),
  ]
}

function audiences(tokenRequests: unknown): string {
  return items(tokenRequests)
    .map((request) => text(fields(request).audience))
    .join(',')
}
