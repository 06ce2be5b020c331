/**
 * Discovery documents → resources. Pure.
 *
 * A member's documents are read with suspicion: what is malformed makes its group version broken,
 * and no other.
 */
import { apiVersionOf, type GroupVersion, type ResourceInfo } from '../kube/group-resource.ts'
import { MemberError } from './member-error.ts'

type Fields = Readonly<Record<string, unknown>>

interface Read {
  readonly resources: ResourceInfo[]
  readonly broken: Set<string>
}

/** apidiscovery.k8s.io v2 and v2beta1, which are alike in all that is read here. */
export function readAggregated(document: Fields): Read {
  const read: Read = { resources: [], broken: new Set() }
  if (!Array.isArray(document.items)) throw rubbish('no items')
  for (const item of listOf(document.items)) {
    // The core group has no name, and no metadata to put it in.
    const { name = '' } = (item.metadata ?? {}) as Fields
    if (typeof name !== 'string') throw rubbish('a group without a name')
    const group = name
    if (!Array.isArray(item.versions)) throw rubbish(`no versions of ${group || 'the core group'}`)
    for (const version of listOf(item.versions)) {
      readAggregatedVersion({ group, version: textOf(version.version) }, version, read)
    }
  }
  return read
}

function readAggregatedVersion(
  of: GroupVersion,
  version: Fields,
  { resources, broken }: Read,
): void {
  // Stale: the API server behind this group version does not answer, and the list is an old one.
  if (version.freshness === 'Stale' || of.version === '') broken.add(apiVersionOf(of))
  for (const one of listOf(version.resources)) {
    const kind = textOf((one.responseKind as Fields | undefined)?.kind)
    const info = checked({
      ...of,
      resource: textOf(one.resource),
      kind,
      singularName: wordOf(one.singularResource),
      namespaced: one.scope === 'Namespaced',
      ...namesOf(one),
    })
    if (info) resources.push(info)
    else broken.add(apiVersionOf(of))
  }
}

/** APIVersions, the answer of /api. */
export function readVersions(document: Fields): GroupVersion[] {
  if (!Array.isArray(document.versions)) throw rubbish('no versions')
  return textsOf(document.versions)
    .map((version) => ({ group: '', version }))
    .filter(isServable)
}

/** APIGroupList, the answer of /apis. */
export function readGroupList(document: Fields): GroupVersion[] {
  if (!Array.isArray(document.groups)) throw rubbish('no groups')
  return listOf(document.groups)
    .flatMap((group) =>
      listOf(group.versions).map((version) => ({
        group: textOf(group.name),
        version: textOf(version.version),
      })),
    )
    .filter(isServable)
}

/** APIResourceList, the answer of one group version. @throws MemberError */
export function readResourceList(document: unknown, of: GroupVersion): ResourceInfo[] {
  const { resources } = (document ?? {}) as Fields
  if (!Array.isArray(resources)) throw rubbish(`no resources of ${apiVersionOf(of)}`)
  return listOf(resources).flatMap(
    (one) =>
      checked({
        ...of,
        resource: textOf(one.name),
        kind: textOf(one.kind),
        singularName: wordOf(one.singularName),
        namespaced: one.namespaced === true,
        ...namesOf(one),
      }) ?? [],
  )
}

/** Without it nothing can be concluded from the document, least of all that types are gone. */
function rubbish(what: string): MemberError {
  return new MemberError('rubbish', `the answer has ${what}: cannot discover types`)
}

function namesOf(one: Fields) {
  return {
    verbs: textsOf(one.verbs).filter(isWord),
    shortNames: textsOf(one.shortNames).filter(isWord),
    categories: textsOf(one.categories).filter(isWord),
  }
}

/** What could not be asked for, or not be shown, is no resource; nor is a subresource: `pods/log`. */
function checked(info: ResourceInfo): ResourceInfo | undefined {
  const named = isServable(info) && isName(info.resource) && isWord(info.kind)
  return named ? info : undefined
}

/** What makes no path is asked for by no path. */
function isServable({ group, version }: GroupVersion): boolean {
  return (group === '' || isName(group)) && isName(version)
}

const isName = (text: string) => text.length <= NAME_MOST && NAME.test(text)
const isWord = (text: string) => text.length <= NAME_MOST && WORD.test(text)
const NAME_MOST = 253
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/
const WORD = /^[A-Za-z0-9][-\w.]*$/

function listOf(value: unknown): Fields[] {
  if (!Array.isArray(value)) return []
  return value.filter((one) => typeof one === 'object' && one !== null)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Readers are shown it, and may type it. */
function wordOf(value: unknown): string {
  const text = textOf(value)
  return isWord(text) ? text : ''
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
