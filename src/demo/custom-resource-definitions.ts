/** The definitions of the demo's custom resources: as recorded, and as an older release had them. */
import type { GivenPlaced } from './cluster-objects.ts'
import { memberNamed, membersOf, stringOf } from './member/json-text.ts'
import type { DemoMember } from './members.ts'
import { DAY_SECONDS, type Setting, timeAt, uidOf } from './placed.ts'
import type { RecordedObject } from './recorded.ts'
import { varied } from './recorded-variation.ts'

const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }

export function definitionsOf(
  setting: Setting,
  member: DemoMember,
  recorded: readonly RecordedObject[],
): GivenPlaced[] {
  switch (member.customResources) {
    case 'claims':
      return recorded
        .filter(({ of }) => of.resource === DEFINITIONS.resource)
        .map((definition) => ({
          of: DEFINITIONS,
          object: varied({ ...setting, ageDays: member.ageDays }, definition),
        }))
    case 'definitions':
      return [{ of: DEFINITIONS, object: newerDefinition(setting, member, recorded) }]
    case 'none':
      return []
    default:
      return member.customResources satisfies never
  }
}

interface Definition {
  readonly metadata: object
  readonly spec: { readonly versions: ReadonlyArray<{ readonly name: string }> }
  readonly status: object
}

/** The same custom resource with one version more: what differs between clusters of one fleet. */
function newerDefinition(
  setting: Setting,
  member: DemoMember,
  recorded: readonly RecordedObject[],
): string {
  const name = 'sqlclaims.devopstoolkitseries.com'
  const text = recorded.find(({ of, text }) => {
    const metadata = memberNamed(membersOf(text), 'metadata')!
    return (
      of.resource === DEFINITIONS.resource &&
      stringOf(text, memberNamed(membersOf(text, metadata.valueStart), 'name')) === name
    )
  })!.text
  const { metadata: _metadata, spec, status, ...type } = JSON.parse(text.toString()) as Definition
  const [version] = spec.versions
  return JSON.stringify({
    ...type,
    metadata: {
      name,
      uid: uidOf(setting, 'CustomResourceDefinition', name),
      generation: 2,
      creationTimestamp: timeAt(setting, -Math.min(member.ageDays, 45) * DAY_SECONDS),
    },
    spec: {
      ...spec,
      versions: [
        { ...version, storage: false },
        { ...version, name: 'v1beta1' },
      ],
    },
    status: { ...status, storedVersions: ['v1alpha1', 'v1beta1'] },
  })
}
