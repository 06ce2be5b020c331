/**
 * The owner that objects are searched by: `owner-uid`, or `owner-name` with `owner-gr`, and how many
 * generations lie between.
 *
 * A UID wins over a name: it says which object is meant, so name and type are not looked at then.
 */
import type { GroupResource } from './group-resource.ts'
import { quoted } from './quoted.ts'
import { badRequest } from './status-error.ts'

export interface WantedOwner {
  readonly of:
    | { readonly uid: string }
    /** `type` left out: of any type. */
    | { readonly name: string; readonly type?: GroupResource }
  /** 0: the owner is the parent, 1: the grandparent, and so on. */
  readonly seniority: number
}

/** One condition as someone gave it; `key` is for refusals. */
interface Given {
  readonly key: string
  readonly text: string
}

export interface GivenOwner {
  readonly uid: Given | undefined
  readonly name: Given | undefined
  readonly groupResource: Given | undefined
  readonly seniority: Given | undefined
}

/** Owners that own each other in a circle have every seniority: nobody looks through more. */
const SENIORITY_MOST = 20

/** @throws 400 `BadRequest` for what is malformed, or says nothing without a UID or name. */
export function parseOwner(given: GivenOwner): WantedOwner | undefined {
  const { uid, name, groupResource, seniority } = given
  const generations = seniority ? parseSeniority(seniority) : 0
  if (uid) return { of: { uid: present(uid) }, seniority: generations }
  if (name) {
    const type = groupResource && parseGroupResource(groupResource)
    return { of: { name: present(name), ...(type && { type }) }, seniority: generations }
  }
  const alone = groupResource ?? seniority
  if (!alone) return undefined
  throw badRequest(`${quoted(alone.key)} needs the owner's name or UID beside it`)
}

function present({ key, text }: Given): string {
  if (text !== '') return text
  throw badRequest(`${quoted(key)}: Invalid value: "": must not be empty`)
}

function parseSeniority({ key, text }: Given): number {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  if (value <= SENIORITY_MOST) return value
  const must = `must be a whole number from 0 (parent) to ${SENIORITY_MOST}`
  throw badRequest(`${quoted(key)}: Invalid value: ${quoted(text)}: ${must}`)
}

/** `deployments.apps`, or `pods`: what follows the first dot is the group. */
function parseGroupResource({ key, text }: Given): GroupResource {
  const match = /^([^./]+)(?:\.([^/]+))?$/.exec(text)
  if (match) return { group: match[2] ?? '', resource: match[1]! }
  throw badRequest(
    `${quoted(key)}: Invalid value: ${quoted(text)}: must be a resource and its group: deployments.apps`,
  )
}
