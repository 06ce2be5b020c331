/**
 * Acting as someone else: `kubectl --as`.
 *
 * kube-aggregator has resolved these headers before it passes a request on; whoever asks this server
 * itself must have the right to impersonate each thing that they name.
 *
 * @see apiserver/pkg/endpoints/filters/impersonation.go
 */
import type { ResourceAttributes } from '../../kube/request-attributes.ts'
import { StatusError } from '../../kube/status-error.ts'
import {
  ANONYMOUS_USER,
  AUTHENTICATED_GROUP,
  type Identity,
  UNAUTHENTICATED_GROUP,
} from '../identity.ts'
import { extraFrom, type HeaderValues } from './authentication/header-values.ts'
import type { Authorizer } from './authorizer.ts'
import { refusal } from './forbidden.ts'

const PREFIX = 'impersonate-'
const EXTRA_PREFIX = 'impersonate-extra-'
const AUTHENTICATION_GROUP = 'authentication.k8s.io'

interface Wanted {
  readonly user: string
  readonly groups: readonly string[]
  readonly uid: string | undefined
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/**
 * Whom the request is to be answered as: the caller, unless it names someone else.
 *
 * @throws {@link StatusError} `BadRequest`, `Forbidden`, and what the authoriser throws.
 */
export async function impersonated(
  caller: Identity,
  headers: HeaderValues,
  authorize: Authorizer,
): Promise<Identity> {
  if (headers.startingWith(PREFIX).length === 0) return caller
  const wanted = wantedFrom(headers)
  for (const attributes of whatIsNeeded(wanted)) {
    const { allowed, reason } = await authorize(caller, attributes)
    if (!allowed) throw refusal(caller, attributes, reason)
  }
  return {
    user: wanted.user,
    groups: groupsOf(wanted),
    ...(wanted.uid !== undefined && { uid: wanted.uid }),
    ...(Object.keys(wanted.extra).length > 0 && { extra: wanted.extra }),
    impersonatedBy: caller.user,
  }
}

/** A header that is not known would be ignored, and its sender answered as more than they meant. */
function wantedFrom(headers: HeaderValues): Wanted {
  const known = (name: string) =>
    ['impersonate-user', 'impersonate-group', 'impersonate-uid'].includes(name) ||
    name.startsWith(EXTRA_PREFIX)
  const unknown = headers.startingWith(PREFIX).find((name) => !known(name))
  if (unknown !== undefined) {
    throw new StatusError('BadRequest', `unknown impersonation header ${JSON.stringify(unknown)}`)
  }
  const user = headers.first(['impersonate-user'])
  if (user === undefined) {
    throw new StatusError('BadRequest', 'impersonation headers need Impersonate-User')
  }
  return {
    user,
    groups: headers.all('impersonate-group'),
    uid: headers.first(['impersonate-uid']),
    extra: extraFrom(headers, [EXTRA_PREFIX]),
  }
}

function whatIsNeeded({ user, groups, uid, extra }: Wanted): readonly ResourceAttributes[] {
  const account = serviceAccountOf(user)
  const who = account
    ? { resource: 'serviceaccounts', ...account }
    : { resource: 'users', name: user }
  return [
    impersonate({ group: '', ...who }),
    ...groups.map((name) => impersonate({ group: '', resource: 'groups', name })),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((name) =>
        impersonate({ group: AUTHENTICATION_GROUP, resource: 'userextras', subresource, name }),
      ),
    ),
    ...(uid === undefined
      ? []
      : [impersonate({ group: AUTHENTICATION_GROUP, resource: 'uids', name: uid })]),
  ]
}

function impersonate(of: Omit<ResourceAttributes, 'verb' | 'version'>): ResourceAttributes {
  return { verb: 'impersonate', version: 'v1', ...of }
}

function serviceAccountOf(user: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return namespace !== undefined && name !== undefined ? { namespace, name } : undefined
}

/** Groups that are named are the whole of it; else a service account has those that it always has. */
function groupsOf({ user, groups }: Wanted): readonly string[] {
  const account = serviceAccountOf(user)
  const given =
    account && groups.length === 0
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : groups
  if (user === ANONYMOUS_USER) return [...new Set([...given, UNAUTHENTICATED_GROUP])]
  const saysItself = given.includes(AUTHENTICATED_GROUP) || given.includes(UNAUTHENTICATED_GROUP)
  return saysItself ? given : [...given, AUTHENTICATED_GROUP]
}
