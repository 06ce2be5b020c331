/** The kinds of certificates.k8s.io. */
import type { KubeObject } from '../kube/kube-object.ts'
import { formatAge } from './age.ts'
import { labelsText } from './label-text.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  count,
  type Fields,
  fields,
  isSet,
  items,
  NONE,
  nameOf,
  text,
} from './read-field.ts'

export const certificates: PrintersByResource = {
  'certificatesigningrequests.certificates.k8s.io': signingRequestCells,
  'clustertrustbundles.certificates.k8s.io': (object) => [
    nameOf(object),
    text(fields(object.spec).signerName) || NONE,
  ],
  'podcertificaterequests.certificates.k8s.io': podRequestCells,
}

function signingRequestCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    ageOf(object),
    text(spec.signerName) || NONE,
    text(spec.username),
    isSet(spec.expirationSeconds) ? formatAge(count(spec.expirationSeconds)) : NONE,
    signingRequestStatus(fields(object.status)),
  ]
}

/** A denial outweighs an approval; failure and issue are added to either. */
function signingRequestStatus(status: Fields): string {
  const types = new Set(items(status.conditions).map((condition) => fields(condition).type))
  let line = 'Pending'
  if (types.has('Denied')) line = 'Denied'
  else if (types.has('Approved')) line = 'Approved'
  if (types.has('Failed')) line += ',Failed'
  return text(status.certificate) === '' ? line : `${line},Issued`
}

function podRequestCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const state = items(fields(object.status).conditions)
    .map((condition) => fields(condition).type)
    .findLast((type) => type === 'Issued' || type === 'Denied' || type === 'Failed')
  return [
    nameOf(object),
    text(spec.podName),
    text(spec.serviceAccountName),
    text(spec.nodeName),
    text(spec.signerName),
    text(state) || 'Pending',
    labelsText(spec.unverifiedUserAnnotations),
  ]
}
