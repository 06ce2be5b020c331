/** `fleetglass member-manifest`: what a member cluster must be given so that it can be mirrored. */
import { type Command, InvalidArgumentError } from 'commander'
import { isClusterScoped } from '../../kube/cluster-scoped.ts'
import { formatYaml } from '../../kube/format-yaml.ts'
import type { GroupResource } from '../../kube/group-resource.ts'
import { type MemberRights, memberRights, type PolicyRule } from '../../sync/member-rights.ts'
import { readLabel } from '../flag-values.ts'

interface Flags {
  readonly resources: readonly GroupResource[]
  readonly namespaces?: readonly string[]
  readonly name: string
  readonly namespace: string
}

export function defineMemberManifest(program: Command): void {
  const command = program
    .command('member-manifest')
    .description(
      'print what to apply to a member cluster: an account with exactly the rights a sync list needs',
    )
    .requiredOption(
      '--resources <TYPES>',
      'what is mirrored: pods,deployments.apps; *.apps for a group, * for everything',
      readTypes,
    )
    .option('--namespaces <NAMES>', 'only in these namespaces', readNames)
    .option('--name <NAME>', 'of the account and its roles', readLabel, 'fleetglass')
    .option('--namespace <NAME>', 'where the account is', readLabel, 'fleetglass')
  command.action(() => {
    process.stdout.write(memberManifest(command.opts<Flags>()))
  })
}

/** The documents in the order in which they can be applied. */
function memberManifest({ resources, namespaces = [], name, namespace }: Flags): string {
  const rights = memberRights(resources, {
    byNamespace: namespaces.length > 0,
    isClusterScoped,
  })
  const account = { kind: 'ServiceAccount', name, namespace }
  const documents = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `${name}-token`,
        namespace,
        annotations: { 'kubernetes.io/service-account.name': name },
      },
      type: 'kubernetes.io/service-account-token',
    },
    ...rolesFor({ rights, name, namespaces, account }),
  ]
  return documents.map(formatYaml).join('---\n')
}

interface RoleWish {
  readonly rights: MemberRights
  readonly name: string
  readonly namespaces: readonly string[]
  readonly account: object
}

function rolesFor({ rights, name, namespaces, account }: RoleWish): object[] {
  const pair = (kind: string, rules: readonly PolicyRule[], metadata: object) => [
    { apiVersion: RBAC, kind, metadata, rules },
    {
      apiVersion: RBAC,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: [account],
    },
  ]
  return [
    ...pair('ClusterRole', rights.cluster, { name }),
    ...(rights.namespaced.length === 0
      ? []
      : namespaces.flatMap((namespace) => pair('Role', rights.namespaced, { name, namespace }))),
  ]
}

const RBAC = 'rbac.authorization.k8s.io/v1'
const TYPE = /^(\*|[a-z][-a-z0-9]*)(?:\.([a-z0-9.*-]+))?$/

function readTypes(text: string): readonly GroupResource[] {
  return text.split(',').map((part) => {
    const [, resource, group] = TYPE.exec(part.trim()) ?? []
    if (resource === undefined) {
      throw new InvalidArgumentError('It must be types separated by commas: pods,deployments.apps.')
    }
    return { resource, group: group ?? (resource === '*' ? '*' : '') }
  })
}

function readNames(text: string): readonly string[] {
  return text.split(',').map((name) => readLabel(name.trim()))
}
