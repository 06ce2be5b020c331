/** From a reader to the rules that name them. */
import type { AccessRule, AccessSubject, FleetAccess } from '../../kube/fleet-access.ts'
import { type Identity, MASTERS_GROUP } from '../identity.ts'

/** What members of system:masters have without any FleetAccess. */
const EVERYTHING: AccessRule = Object.freeze<AccessRule>({
  clusters: ['*'],
  namespaces: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  verbs: ['*'],
})

export class SubjectIndex {
  readonly #rules = new Map<string, AccessRule[]>()

  constructor(objects: readonly FleetAccess[]) {
    for (const { spec } of objects) {
      for (const subject of spec.subjects) this.#add(keyOf(subject), spec.rules)
    }
  }

  /** All rules that speak of the reader; one that is reached twice is there once. */
  rulesOf({ user, groups }: Identity): readonly AccessRule[] {
    const rules = new Set(this.#rules.get(`User ${user}`))
    for (const group of groups) {
      for (const rule of this.#rules.get(`Group ${group}`) ?? []) rules.add(rule)
    }
    if (groups.includes(MASTERS_GROUP)) rules.add(EVERYTHING)
    return [...rules]
  }

  #add(key: string, rules: readonly AccessRule[]): void {
    const known = this.#rules.get(key)
    if (known) known.push(...rules)
    else this.#rules.set(key, [...rules])
  }
}

/** A service account is a user whose name says so, in Kubernetes' spelling. */
function keyOf({ kind, name, namespace }: AccessSubject): string {
  switch (kind) {
    case 'User':
      return `User ${name}`
    case 'Group':
      return `Group ${name}`
    case 'ServiceAccount':
      return `User system:serviceaccount:${namespace ?? ''}:${name}`
  }
}
