/**
 * Conditions of a search → conditions of the store: owners are looked up first.
 *
 * What is looked through must be listable by the reader: by an owner that they may not see, they
 * find nothing. Only a parent given by its UID needs no look-up: the objects themselves name it.
 */
import type { GroupResource } from '../../kube/group-resource.ts'
import { storedAs } from '../../kube/moved-resources.ts'
import type { SearchCondition } from '../../kube/search.ts'
import type { WantedOwner } from '../../kube/search-owner.ts'
import type { ObjectCondition } from '../../store/list-request.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import { typesOf } from '../../store/type-scope.ts'
import type { Access } from '../access/access.ts'
import { typeScopes } from '../access/type-scopes.ts'
import type { Identity } from '../identity.ts'
import type { ObjectView } from '../objects.ts'
import { ownerHint } from './owner-hint.ts'

export interface OwnerParts {
  readonly access: Access
  readonly objects: Pick<ObjectView, 'owners'>
}

export interface OwnerQuestion {
  readonly identity: Identity
  readonly conditions: readonly SearchCondition[]
  /** Of the objects that are wanted; their owners are in the same clusters. */
  readonly scope: ReadScope
  /** The only namespace that is asked, if the path names one. */
  readonly namespace: string | undefined
}

export interface OwnedConditions {
  readonly conditions: readonly ObjectCondition[]
  /** Sentences, for an empty answer. */
  readonly hints: readonly string[]
}

/** @throws 400 `BadRequest` when an owner stands for too many objects. */
export async function withOwners(
  parts: OwnerParts,
  question: OwnerQuestion,
): Promise<OwnedConditions> {
  const conditions: ObjectCondition[] = []
  const hints: string[] = []
  for (const condition of question.conditions) {
    if (condition.on !== 'owner') {
      conditions.push(condition)
      continue
    }
    const owned = await ownerCondition(parts, question, condition.owner)
    conditions.push(owned.condition)
    hints.push(owned.hint)
  }
  return { conditions, hints }
}

const PARENT_UID = [
  { key: 'metadata' },
  { key: 'ownerReferences' },
  { every: true },
  { key: 'uid' },
] as const

async function ownerCondition(
  { access, objects }: OwnerParts,
  { identity, scope, namespace }: OwnerQuestion,
  owner: WantedOwner,
): Promise<{ readonly condition: ObjectCondition; readonly hint: string }> {
  const { of, seniority } = owner
  if ('uid' in of && seniority === 0) {
    const requirement = { path: PARENT_UID, operator: 'In', values: [of.uid] } as const
    const hint = ownerHint({ owner, found: undefined, listable: [] })
    return { condition: { on: 'field', requirement }, hint }
  }
  const asked = new Set(scope.map(({ id }) => id))
  const scopesOf = (type: GroupResource | undefined) =>
    typeScopes(access, {
      ...{ identity, namespace },
      isWanted: (resource, { id }) => asked.has(id) && (!type || isSame(resource, type)),
    })
  const named = 'name' in of ? scopesOf(of.type && storedAs(of.type)) : []
  const between = seniority > 0 ? scopesOf(undefined) : []
  const found = await objects.owners({ of, named, between, generations: seniority })
  const listable = found.lost === 'owner' ? typesOf(scopesOf(undefined)) : []
  const hint = ownerHint({ owner, found, listable })
  return { condition: { on: 'owner', owners: found.owners }, hint }
}

function isSame(one: GroupResource, other: GroupResource): boolean {
  return one.group === other.group && one.resource === other.resource
}
