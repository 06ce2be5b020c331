/** Everybody in deploy/ may do what they need, and little more. */
import { describe, expect, test } from 'vitest'
import {
  API_SERVICES,
  CA_SECRET,
  SERVING_SECRET,
} from '../../src/cli/certificates/keep-certificates.ts'
import { hasKubectl, type Manifest, OVERLAYS, ofKind, renderOverlay } from '../support/manifests.ts'

const NAMESPACE = 'fleetglass-system'
/** Every API server has them. */
const BUILT_IN_ROLES = ['system:auth-delegator', 'extension-apiserver-authentication-reader']

interface Right {
  readonly account: string
  readonly verb: string
  /** `pediaclusters.cluster.clusterpedia.io` */
  readonly resource: string
  readonly name?: string
  /** Left out: in all, or it is of none. */
  readonly namespace?: string
}

const REGISTRATIONS = [
  'pediaclusters.cluster.clusterpedia.io',
  'clustersyncresources.cluster.clusterpedia.io',
  'fleetaccesses.fleetglass.io',
]

/** What the processes ask of the API server. */
const NEEDS: readonly Right[] = [
  ...REGISTRATIONS.flatMap((resource) =>
    rights('fleetglass-syncer', ['list', 'watch'], { resource }),
  ),
  ...rights('fleetglass-syncer', ['get', 'patch'], { resource: REGISTRATIONS[0]! }),
  ...rights('fleetglass-syncer', ['patch'], {
    resource: 'pediaclusters/status.cluster.clusterpedia.io',
  }),
  ...rights('fleetglass-syncer', ['list', 'watch'], { resource: 'secrets', namespace: NAMESPACE }),
  ...rights('fleetglass-syncer', ['create'], {
    resource: 'leases.coordination.k8s.io',
    namespace: NAMESPACE,
  }),
  ...rights('fleetglass-syncer', ['get', 'update'], {
    resource: 'leases.coordination.k8s.io',
    name: 'fleetglass-controllers',
    namespace: NAMESPACE,
  }),
  ...rights('fleetglass-syncer', ['get', 'create', 'patch'], {
    resource: 'events',
    namespace: 'default',
  }),
]

/** Of our own job, where cert-manager does not do it. */
const CERTIFICATE_NEEDS: readonly Right[] = [
  ...rights('fleetglass-certificates', ['create'], { resource: 'secrets', namespace: NAMESPACE }),
  ...[CA_SECRET, SERVING_SECRET].flatMap((name) =>
    rights('fleetglass-certificates', ['get', 'patch'], {
      resource: 'secrets',
      name,
      namespace: NAMESPACE,
    }),
  ),
  ...API_SERVICES.flatMap((name) =>
    rights('fleetglass-certificates', ['get', 'patch'], {
      resource: 'apiservices.apiregistration.k8s.io',
      name,
    }),
  ),
]

function needs(objects: readonly Manifest[]): readonly Right[] {
  return ofKind(objects, 'CronJob').length > 0 ? [...NEEDS, ...CERTIFICATE_NEEDS] : NEEDS
}

function rights(
  account: string,
  verbs: readonly string[],
  what: Omit<Right, 'account' | 'verb'>,
): readonly Right[] {
  return verbs.map((verb) => ({ account, verb, ...what }))
}

function titleOfRight({ account, verb, resource, name, namespace }: Right): string {
  const what = name === undefined ? resource : `${resource} ${name}`
  return `${account} may ${verb} ${what} in ${namespace ?? 'the cluster'}`
}

function mayDo(objects: readonly Manifest[], { account, ...asked }: Right): boolean {
  const isSubject = ({ subjects }: Manifest) =>
    subjects.some(
      (one: Manifest) =>
        one.kind === 'ServiceAccount' && one.name === account && one.namespace === NAMESPACE,
    )
  return ofKind(objects, 'RoleBinding', 'ClusterRoleBinding')
    .filter(isSubject)
    .filter(
      ({ metadata }) => metadata.namespace === undefined || metadata.namespace === asked.namespace,
    )
    .some(({ roleRef, metadata }) => {
      const role = objects.find(
        (one) =>
          one.kind === roleRef.kind &&
          one.metadata.name === roleRef.name &&
          (one.kind === 'ClusterRole' || one.metadata.namespace === metadata.namespace),
      )
      return role?.rules.some((rule: Manifest) => grants(rule, asked))
    })
}

function grants(rule: Manifest, { verb, resource, name }: Omit<Right, 'account'>): boolean {
  const [type, ...group] = resource.split('.')
  return (
    rule.verbs.includes(verb) &&
    (rule.apiGroups ?? []).includes(group.join('.')) &&
    (rule.resources ?? []).includes(type) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(name))
  )
}

const rendered = hasKubectl
  ? OVERLAYS.map((overlay) => [overlay, renderOverlay(overlay)] as const)
  : []
if (!hasKubectl) test.skip('the rights in deploy/, because there is no kubectl', () => undefined)

describe.each(rendered)('overlay %s', (_, objects) => {
  test('every role that is bound is there', () => {
    const roles = ofKind(objects, 'Role', 'ClusterRole').map(({ metadata }) => metadata.name)
    for (const { roleRef } of ofKind(objects, 'RoleBinding', 'ClusterRoleBinding')) {
      expect([...roles, ...BUILT_IN_ROLES]).toContain(roleRef.name)
    }
  })

  test('API servers ask who somebody is and what they may, and nothing else', () => {
    const bound = ofKind(objects, 'RoleBinding', 'ClusterRoleBinding').filter(({ subjects }) =>
      subjects.some(({ name }: Manifest) => name === 'fleetglass-apiserver'),
    )
    expect(bound.map(({ roleRef }) => roleRef.name).toSorted()).toEqual([...BUILT_IN_ROLES].sort())
  })

  test('what lets users and scrapers in is bound to nobody', () => {
    const bound = ofKind(objects, 'RoleBinding', 'ClusterRoleBinding').map(
      ({ roleRef }) => roleRef.name,
    )
    for (const role of ['fleetglass-reader', 'fleetglass-metrics-reader']) {
      expect(ofKind(objects, 'ClusterRole').map(({ metadata }) => metadata.name)).toContain(role)
      expect(bound).not.toContain(role)
    }
  })

  test('no right is given for everything', () => {
    for (const { metadata, rules } of ofKind(objects, 'Role', 'ClusterRole')) {
      for (const { apiGroups = [], resources = [], verbs } of rules) {
        // The resources of clusterpedia.io are paths, so they have no names that could be listed.
        const isReader = metadata.name === 'fleetglass-reader' && apiGroups[0] === 'clusterpedia.io'
        expect([...apiGroups, ...verbs, ...(isReader ? [] : resources)]).not.toContain('*')
      }
    }
  })

  test('Secrets are read in the namespace of fleetglass only', () => {
    for (const { metadata, rules } of ofKind(objects, 'ClusterRole')) {
      const granted = rules.flatMap(({ resources = [] }: Manifest) => resources)
      if (metadata.name !== 'fleetglass-reader') expect(granted).not.toContain('secrets')
    }
    const roles = ofKind(objects, 'Role').filter(({ rules }) =>
      rules.some(({ resources }: Manifest) => resources.includes('secrets')),
    )
    for (const { metadata } of roles) expect(metadata.namespace).toBe(NAMESPACE)
  })

  test.each(needs(objects).map((right) => [titleOfRight(right), right] as const))(
    '%s',
    (_, right) => {
      expect(mayDo(objects, right)).toBe(true)
    },
  )
})
