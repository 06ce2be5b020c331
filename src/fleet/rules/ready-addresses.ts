/** How many ready addresses each Service has, by the EndpointSlices that carry its name. */
import { type Fields, fields, items, text } from '../../printers/read-field.ts'
import { keyOf, metaOf, namespaceOf, recordsIn } from '../read-object.ts'

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

/** By namespace and name of the Service; 0 is left out. */
export type ReadyAddresses = ReadonlyMap<string, number>

export function readyAddresses(slices: readonly Fields[]): ReadyAddresses {
  const ready = new Map<string, number>()
  for (const slice of slices) {
    const service = text(fields(metaOf(slice).labels)[SERVICE_NAME_LABEL])
    if (service === '') continue
    const key = keyOf(namespaceOf(slice), service)
    const addresses = recordsIn(slice.endpoints).filter(isReady)
    const more = addresses.reduce((sum, one) => sum + items(one.addresses).length, 0)
    if (more > 0) ready.set(key, (ready.get(key) ?? 0) + more)
  }
  return ready
}

/** Unknown is ready, as the API says. */
function isReady({ conditions }: Fields): boolean {
  const { ready } = fields(conditions)
  return ready === undefined || ready === null || ready === true
}
