/** Leases and their candidates. */
import type { PrintersByResource } from './printer.ts'
import { ageOf, fields, nameOf, text } from './read-field.ts'

export const leases: PrintersByResource = {
  'leases.coordination.k8s.io': (object) => [
    nameOf(object),
    text(fields(object.spec).holderIdentity),
    ageOf(object),
  ],
  'leasecandidates.coordination.k8s.io': (object) => {
    const { leaseName, binaryVersion, emulationVersion } = fields(object.spec)
    return [
      nameOf(object),
      text(leaseName),
      text(binaryVersion),
      text(emulationVersion),
      ageOf(object),
    ]
  },
}
