/**
 * Built-in resources that Kubernetes moved from one group to another.
 *
 * To the store these are one type, whatever group a member still serves them in;
 * see the decision "a type is (group, resource)" in src/README.md.
 */
import type { GroupResource } from './group-resource.ts'

/** Former group → resource → the group that the type is known by here. */
const HOME: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [
    'extensions',
    new Map([
      ['daemonsets', 'apps'],
      ['deployments', 'apps'],
      ['replicasets', 'apps'],
      ['ingresses', 'networking.k8s.io'],
      ['networkpolicies', 'networking.k8s.io'],
      ['podsecuritypolicies', 'policy'],
    ]),
  ],
  // Events are served by both groups at once; kubectl, describe and their selectors use the core one.
  ['events.k8s.io', new Map([['events', '']])],
])

/** The (group, resource) that a type is stored under: itself, unless Kubernetes moved it. */
export function storedAs({ group, resource }: GroupResource): GroupResource {
  return { group: HOME.get(group)?.get(resource) ?? group, resource }
}
