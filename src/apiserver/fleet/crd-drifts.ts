/** `crddrifts`: one per CustomResourceDefinition, where it is missing and where it is another. */
import { type CrdRow, compareCrds } from '../../drift/compare-crds.ts'
import { gatherCrds } from '../../drift/gather.ts'
import {
  againstBaseline,
  BASELINE_FIELDS,
  baselineOf,
  comparisonWarnings,
  driftLabels,
  gatheringOf,
  observedIn,
} from './compared.ts'
import { column, flag, fleetKind, objects, text, texts } from './kind.ts'

export const CRD_DRIFTS = fleetKind({
  ...{ resource: 'crddrifts', kind: 'CrdDrift', shortName: 'crdd' },
  description:
    'CrdDrift says in which clusters a CustomResourceDefinition is, and how it differs between them.',
  namedAfterClusters: false,
  takes: 'baseline',
  fields: {
    drift: flag('Whether it is missing from a cluster, or differs.'),
    class: text('none, missing or different.'),
    presentIn: texts('Clusters that have it.'),
    missingFrom: texts('Clusters that do not.'),
    unknownIn: texts('Clusters of which that is not known.'),
    differences: objects('What differs between clusters that have it.', {
      field: text('served versions, storage version, scope, established or schemas.'),
      values: objects('Each value.', {
        value: text('The value.'),
        clusters: texts('Clusters that have it.'),
      }),
    }),
    notEstablishedIn: texts('Clusters that do not serve it yet.'),
    terminatingIn: texts('Clusters that it is being deleted from.'),
    differs: text('What differs, in a few words.'),
    missing: text('missingFrom as one text.'),
    ...BASELINE_FIELDS,
  },
  columns: [
    column('Drift', 'drift', { type: 'boolean' }),
    column('Class', 'class'),
    column('Differs', 'differs'),
    column('Missing from', 'missing'),
  ],
  async answer(view) {
    const found = await view.compared('crds', async (source) =>
      compareCrds({ ...(await gatherCrds(await gatheringOf(source))), ...baselineOf(view) }),
    )
    return {
      objects: found.rows.map((row) => ({
        name: row.key,
        labels: driftLabels(row.drift, row.class),
        status: {
          ...statusOf(row),
          ...againstBaseline(view, row.differsIn),
          ...observedIn(found),
        },
      })),
      warnings: comparisonWarnings(found, view),
    }
  },
})

function statusOf(row: CrdRow) {
  const { drift, class: kindOfDrift, presentIn, missingFrom, unknownIn } = row
  const { differences, notEstablishedIn, terminatingIn } = row
  return {
    ...{ drift, class: kindOfDrift, presentIn, missingFrom, unknownIn },
    differences: differences.map(({ field, values }) => ({
      field,
      values: values.map(({ value, clusters }) => ({ value, clusters })),
    })),
    ...{ notEstablishedIn, terminatingIn },
    differs: differences.map(({ field }) => field).join(', '),
    missing: missingFrom.join(', '),
  }
}
