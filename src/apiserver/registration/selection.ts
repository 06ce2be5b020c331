/** Which objects a list or watch is about: its selectors, and what the reader may see. */
import type { JsonObject } from '../../kube/kube-object.ts'
import { matchesLabels, parseLabelSelector } from '../../kube/label-selector.ts'
import { parsePlainFieldSelector } from '../../kube/plain-field-selector.ts'
import { field } from '../../registration/json-text.ts'
import { nameOf } from '../../registration/lifecycle.ts'

export interface Selection {
  readonly selects: (object: JsonObject) => boolean
  /** Whether it is everything: then it is known how many follow a page. */
  readonly isEverything: boolean
}

const FIELDS = ['metadata.name', 'metadata.namespace']

/** @throws 400 */
export function selection(
  selectors: { readonly labelSelector: string; readonly fieldSelector: string },
  mayRead: (name: string) => boolean,
): Selection {
  const labels = parseLabelSelector(selectors.labelSelector)
  const fields = parsePlainFieldSelector(selectors.fieldSelector, FIELDS)
  return {
    isEverything: labels.length === 0 && fields.length === 0,
    selects: (object) =>
      mayRead(nameOf(object)) &&
      matchesLabels(labels, labelsOf(object)) &&
      fields.every(({ field: path, operator, value }) => {
        const actual = path === 'metadata.name' ? nameOf(object) : ''
        return (actual === value) === (operator === '=')
      }),
  }
}

function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  return (field(object, 'metadata', 'labels') ?? {}) as Readonly<Record<string, string>>
}
