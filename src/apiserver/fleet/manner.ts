/**
 * How clusters are compared or judged: `?baseline=dot-01`, `?nodes=true`, or as a label, because
 * kubectl can send nothing else: `-l fleet.fleetglass.io/baseline=dot-01`.
 */
import type { LabelRequirement } from '../../kube/label-selector.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import { FLEET_API, type FleetKind } from './kind.ts'

export interface Manner {
  /** The cluster that all others are compared with; undefined: each with each. */
  readonly baseline: string | undefined
  /** Whether nodes are judged as well, as by `fleetglass fleet --nodes`. */
  readonly nodes: boolean
}

export interface AskedManner {
  readonly manner: Manner
  /** What is left of the query and of the label selector. */
  readonly query: URLSearchParams
  readonly requirements: readonly LabelRequirement[]
}

const NAMES = ['baseline', 'nodes'] as const
const LABELS: readonly string[] = NAMES.map(labelOf)

/**
 * A query wins over the label.
 *
 * @throws 400 for what the kind does not take, and for labels that say anything but `=`.
 */
export function mannerIn(
  kind: Pick<FleetKind, 'resource' | 'takes'>,
  asked: Omit<AskedManner, 'manner'>,
): AskedManner {
  const query = new URLSearchParams(asked.query)
  const isManner = ({ key }: LabelRequirement) => LABELS.includes(key)
  const labels = new Map(
    asked.requirements
      .filter(isManner)
      .map((requirement) => [requirement.key, valueIn(requirement)]),
  )
  const taken = (name: (typeof NAMES)[number]) => {
    const value = query.get(name) || labels.get(labelOf(name))
    query.delete(name)
    if (value === undefined || kind.takes === name) return value
    throw new StatusError('BadRequest', `${JSON.stringify(name)} is not for ${kind.resource}`)
  }
  const manner = { baseline: taken('baseline'), nodes: isTrue(taken('nodes')) }
  return { manner, query, requirements: asked.requirements.filter((each) => !isManner(each)) }
}

function labelOf(name: string): string {
  return `${FLEET_API.group}/${name}`
}

function valueIn(requirement: LabelRequirement): string {
  const [value, ...more] = requirement.operator === 'In' ? requirement.values : []
  if (value !== undefined && more.length === 0) return value
  const message = `the label ${JSON.stringify(requirement.key)} takes only = and ==, and one value`
  throw new StatusError('BadRequest', message)
}

function isTrue(text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false
  if (text === 'true') return true
  const message = `"nodes": Invalid value: ${JSON.stringify(text)}: must be true or false`
  throw new StatusError('BadRequest', message)
}

/** What is compared: what was chosen, and the baseline always. @throws 400 when it is not seen. */
export function withBaseline(
  { all, chosen }: { readonly all: ReadScope; readonly chosen: ReadScope },
  { baseline }: Pick<Manner, 'baseline'>,
): ReadScope {
  if (baseline === undefined) return chosen
  if (!all.some(({ name }) => name === baseline)) {
    const message = `"baseline": Invalid value: ${JSON.stringify(baseline)}: there is no such cluster`
    throw new StatusError('BadRequest', message)
  }
  return all.filter((each) => each.name === baseline || chosen.includes(each))
}
