/** The types that tests speak of, as a member serves them. */

export const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
export const PODS = { group: '', version: 'v1', resource: 'pods' }
export const EVENTS = { group: '', version: 'v1', resource: 'events' }
export const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
export const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
export const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
export const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' }
export const CUSTOM_RESOURCE_DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}
