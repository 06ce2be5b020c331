/** Nodes that are not ready, short of something or cordoned: looked at only when asked for. */
import type { Fields } from '../../printers/read-field.ts'
import type { Finding } from '../issue.ts'
import type { Observation } from '../observation.ts'
import { conditionIs, nameOf, specOf } from '../read-object.ts'

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']

export function nodeIssues({ lists }: Observation): readonly Finding[] {
  return (lists.nodes ?? []).flatMap(issuesOf)
}

function issuesOf(node: Fields): readonly Finding[] {
  const of = { kind: 'Node', namespace: '', name: nameOf(node) }
  const found: Finding[] = []
  if (!conditionIs(node, 'Ready', 'True')) {
    found.push({ issue: 'NodeNotReady', ...of, reason: 'its condition Ready is not True' })
  }
  const pressures = PRESSURES.filter((type) => conditionIs(node, type, 'True'))
  if (pressures.length > 0) {
    found.push({ issue: 'NodePressure', ...of, reason: `it has ${pressures.join(', ')}` })
  }
  if (specOf(node).unschedulable === true) {
    found.push({ issue: 'NodeCordoned', ...of, reason: 'no pod is placed on it' })
  }
  return found
}
