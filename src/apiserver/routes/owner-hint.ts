/**
 * What was looked for as an owner, said with an empty answer: the owner may be called something
 * else, be of another type, or of another generation.
 */
import { type GroupResource, qualifiedResource } from '../../kube/group-resource.ts'
import { didYouMean } from '../../kube/nearest.ts'
import type { WantedOwner } from '../../kube/search-owner.ts'
import type { FoundOwners } from '../../store/owners.ts'

export interface OwnerHintParts {
  readonly owner: WantedOwner
  /** Undefined: none were looked up, the objects themselves name their parent. */
  readonly found: FoundOwners | undefined
  /** Types that the reader may list in the clusters that are asked. */
  readonly listable: readonly GroupResource[]
}

const TEXT_MOST_CHARACTERS = 120
const GENERATIONS = ['parent', 'grandparent', 'great-grandparent']

/** A sentence. */
export function ownerHint({ owner, found, listable }: OwnerHintParts): string {
  const { of, seniority } = owner
  const text = JSON.stringify(shorten('uid' in of ? of.uid : of.name))
  const as = `the ${GENERATIONS[seniority] ?? 'ancestor'} (owner-seniority=${seniority})`
  if (found?.lost === 'owner') return nobody(text, owner, listable)
  if (found?.lost === 'between') {
    return `nothing was found below the owner ${text}, which was looked for as ${as}`
  }
  return `the owner ${text} was looked for as ${as}`
}

function nobody(text: string, { of }: WantedOwner, listable: readonly GroupResource[]): string {
  const type = 'name' in of ? of.type : undefined
  if (!type) return `no owner ${text} was found among what you may list where you asked`
  const name = qualifiedResource(type)
  const known = listable.map(qualifiedResource)
  if (known.includes(name)) {
    return `no owner ${text} was found among the ${name} that you may list where you asked`
  }
  const hint = didYouMean(name, known)
  return `owner-gr: where you asked, there are no ${shorten(name)} that you may list${hint}`
}

function shorten(text: string): string {
  return text.slice(0, TEXT_MOST_CHARACTERS)
}
