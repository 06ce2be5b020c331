/**
 * The cluster that all others are compared with: `?baseline=dot-01`, or as a label, because kubectl
 * can send nothing else: `-l fleet.fleetglass.io/baseline=dot-01`.
 */
import type { LabelRequirement } from '../../kube/label-selector.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import { FLEET_API, type FleetKind } from './kind.ts'

const QUERY = 'baseline'
const LABEL = `${FLEET_API.group}/${QUERY}`

export interface AskedBaseline {
  /** Undefined: each is compared with each. */
  readonly baseline: string | undefined
  /** What is left of the query and of the label selector. */
  readonly query: URLSearchParams
  readonly requirements: readonly LabelRequirement[]
}

/**
 * The query wins over the label.
 *
 * @throws 400 where nothing is compared, and for a label that says anything but `=`.
 */
export function baselineIn(
  kind: Pick<FleetKind, 'resource' | 'compares'>,
  asked: Omit<AskedBaseline, 'baseline'>,
): AskedBaseline {
  const query = new URLSearchParams(asked.query)
  const isLabel = ({ key }: LabelRequirement) => key === LABEL
  const requirements = asked.requirements.filter((requirement) => !isLabel(requirement))
  const labels = asked.requirements.filter(isLabel).map(nameIn)
  const baseline = query.get(QUERY) || labels[0]
  query.delete(QUERY)
  if (baseline !== undefined && !kind.compares) {
    throw new StatusError('BadRequest', `${kind.resource} are compared with nothing: no baseline`)
  }
  return { baseline, query, requirements }
}

function nameIn(requirement: LabelRequirement): string {
  const [name, ...more] = requirement.operator === 'In' ? requirement.values : []
  if (name !== undefined && more.length === 0) return name
  throw new StatusError('BadRequest', `the label "${LABEL}" takes only = and ==, and one cluster`)
}

/** What is compared: what was chosen, and the baseline always. @throws 400 when it is not seen. */
export function withBaseline(
  { all, chosen }: { readonly all: ReadScope; readonly chosen: ReadScope },
  baseline: string | undefined,
): ReadScope {
  if (baseline === undefined) return chosen
  if (!all.some(({ name }) => name === baseline)) {
    const message = `"baseline": Invalid value: ${JSON.stringify(baseline)}: there is no such cluster`
    throw new StatusError('BadRequest', message)
  }
  return all.filter((each) => each.name === baseline || chosen.includes(each))
}
