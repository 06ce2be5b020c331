/**
 * What of a list is asked for: clusters, which narrow what is judged and compared, and objects, of
 * which all the same is worked out and some are shown.
 */
import { parseFieldSelector } from '../../kube/field-selector.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import {
  type LabelRequirement,
  matchesLabels,
  parseLabelSelector,
} from '../../kube/label-selector.ts'
import type { ListOptions } from '../../kube/list-options.ts'
import { didYouMean } from '../../kube/nearest.ts'
import { searchQueryTerms, splitSearchLabels } from '../../kube/search-terms.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { CatalogCluster } from '../catalog.ts'
import { FLEET_API, type FleetKind } from './kind.ts'
import { type Manner, mannerIn } from './manner.ts'
import { matchesFields } from './match-fields.ts'

export interface Selection {
  readonly manner: Manner
  /** Those that conditions name, in whatever way. */
  readonly clustersNamed: readonly string[]
  readonly selectsCluster: (cluster: Pick<CatalogCluster, 'name' | 'labels'>) => boolean
  readonly selects: (object: JsonObject, labels: Readonly<Record<string, string>>) => boolean
}

/** Queries that speak of mirrored objects only; ignored, they would widen or change the answer. */
const OF_MIRROR = ['onlyMetadata', 'strictVersion']

const PREFIX = `${FLEET_API.group}/`
/** What objects are labelled with, beside the labels of their cluster: findings.ts, compared.ts. */
const OWN_LABELS = ['cluster', 'severity', 'drift', 'class'].map((name) => `${PREFIX}${name}`)

/** A label of ours that no object has is a mistake: the empty answer would look like good news. */
function refuseUnknownLabels(requirements: readonly LabelRequirement[]): void {
  const unknown = requirements
    .map(({ key }) => key)
    .find((key) => key.startsWith(PREFIX) && !OWN_LABELS.includes(key))
  if (unknown === undefined) return
  const message = `unknown label ${JSON.stringify(unknown)}${didYouMean(unknown, OWN_LABELS)}`
  throw new StatusError('BadRequest', message)
}

/** @throws 400 */
export function selectionOf(
  kind: FleetKind,
  given: URLSearchParams,
  options: ListOptions,
): Selection {
  const { manner, query, requirements } = mannerIn(kind, {
    query: given,
    requirements: parseLabelSelector(options.labelSelector),
  })
  refuseUnknownLabels(requirements)
  const labels = splitSearchLabels(requirements)
  const { clusterLabels, objectLabels } = labels
  const terms = [...labels.terms, ...searchQueryTerms(query)]
  const other =
    terms.find(({ name }) => name !== 'clusters')?.key ?? OF_MIRROR.find((key) => query.has(key))
  if (other !== undefined) {
    const message = `${JSON.stringify(other)} is for objects of member clusters`
    throw new StatusError('BadRequest', message)
  }
  const clusterRequirements: readonly LabelRequirement[] = [
    ...clusterLabels,
    ...parseLabelSelector(query.get('clusterSelector') ?? ''),
  ]
  const fields = [...labels.comparisons, ...parseFieldSelector(options.fieldSelector)]
  return {
    manner,
    clustersNamed: terms.flatMap(({ values }) => values),
    selectsCluster: ({ name, labels }) =>
      terms.every(({ operator, values }) => values.includes(name) === (operator === 'In')) &&
      matchesLabels(clusterRequirements, labels),
    selects: (object, own) => matchesLabels(objectLabels, own) && matchesFields(fields, object),
  }
}
