/** Which objects a list or watch selects: namespace, name, labels, and the fields members offer. */
import {
  type LabelRequirement,
  matchesLabels,
  parseLabelSelector,
} from '../../kube/label-selector.ts'
import { parsePlainFieldSelector } from '../../kube/plain-field-selector.ts'
import { memberNamed, membersOf, stringOf } from './json-text.ts'
import type { MemberRequest } from './request.ts'
import type { MemberResource } from './served-resources.ts'
import { labelsOf, type StoredObject } from './stored-object.ts'

export interface Selection {
  /** No selector beside the namespace: only then is the remaining count known. */
  readonly everything: boolean
  matches(object: StoredObject): boolean
}

const EVERY_KIND = ['metadata.name', 'metadata.namespace']

/** What kube-apiserver offers beside name and namespace, by resource. */
const SELECTABLE: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
  ],
  events: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'reason',
    'type',
  ],
  secrets: ['type'],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
}

/** @throws StatusError 400 for a selector that cannot be read or a field that is not offered. */
export function readSelection(request: MemberRequest, resource: MemberResource): Selection {
  const labels = parseLabelSelector(request.query.get('labelSelector') ?? '')
  const supported = resource.custom ? [] : (SELECTABLE[resource.resource] ?? [])
  const fields = parsePlainFieldSelector(request.query.get('fieldSelector') ?? '', [
    ...EVERY_KIND,
    ...supported,
  ])
  return {
    everything: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      (request.namespace === '' || object.namespace === request.namespace) &&
      fields.every(
        ({ field, operator, value }) => (fieldOf(object, field) === value) === (operator === '='),
      ) &&
      selects(labels, object),
  }
}

function selects(labels: readonly LabelRequirement[], object: StoredObject): boolean {
  return labels.length === 0 || matchesLabels(labels, Object.fromEntries(labelsOf(object)))
}

/** The string at a path, or `''`; what Kubernetes compares a field selector with. */
function fieldOf({ text }: StoredObject, path: string): string {
  let at = 0
  const keys = path.split('.')
  for (const [depth, key] of keys.entries()) {
    const member = memberNamed(membersOf(text, at), key)
    if (!member) return ''
    if (depth === keys.length - 1) {
      return stringOf(text, member) ?? text.toString('utf8', member.valueStart, member.end)
    }
    at = member.valueStart
  }
  return ''
}
