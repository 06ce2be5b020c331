/** `imagedrifts`: one per image repository, which versions of it run where. */
import { compareImages, type ImageDrift, type ImageRow } from '../../drift/compare-images.ts'
import { gatherImages } from '../../drift/gather.ts'
import { renameMirrors } from '../../drift/image-inventory.ts'
import { namedClusters } from '../named-clusters.ts'
import {
  againstBaseline,
  BASELINE_FIELDS,
  baselineOf,
  comparisonWarnings,
  driftLabels,
  gatheringOf,
  observedIn,
} from './compared.ts'
import { column, flag, fleetKind, number, objects, text, texts } from './kind.ts'

export const IMAGE_DRIFTS = fleetKind({
  ...{ resource: 'imagedrifts', kind: 'ImageDrift', shortName: 'imgd' },
  description:
    'ImageDrift says which versions of an image run in which clusters. An image that does not run in a cluster is missing there, which is no drift.',
  namedAfterClusters: false,
  takes: 'baseline',
  fields: {
    image: text('Registry and path; the name of the object is this with ~ for /.'),
    drift: flag('Whether clusters run different versions.'),
    class: text('What the difference is: none, tag, digest, mixed or presence.'),
    tags: text('All tags that run, in byte order.'),
    clusters: objects('What each cluster runs.', {
      cluster: text('Name of the cluster.'),
      tags: texts('As written in pods.'),
      digests: texts('What registries resolved them to, as far as known.'),
      mixed: flag('Several at once.'),
      rollingOut: flag('A rollout is in progress.'),
      containers: number('Containers that run it.'),
      namespaces: number('Namespaces that they are in.'),
    }),
    runningIn: number('How many clusters run it.'),
    missingFrom: texts('Clusters that do not run it.'),
    behind: texts('Clusters whose newest tag is older than that of another.'),
    behindText: text('The same, as one text.'),
    notes: texts('What else there is to know.'),
    ...BASELINE_FIELDS,
  },
  columns: [
    column('Drift', 'drift', { type: 'boolean' }),
    column('Class', 'class'),
    column('Clusters', 'runningIn', { type: 'integer' }),
    column('Tags', 'tags'),
    column('Behind', 'behindText'),
  ],
  async answer(view) {
    const found = await view.compared('images', async (source) => {
      const gathering = await gatheringOf(source)
      const rename = renameMirrors(new Map())
      const gathered = await gatherImages({ ...gathering, from: 'pods', rename })
      return compareImages({ ...gathered, ...baselineOf(view) })
    })
    return {
      objects: found.rows.map((row) => ({
        // A slash would end the name in a path, and there is no tilde in an image's.
        name: row.key.replaceAll('/', '~'),
        labels: driftLabels(row.drift, row.class),
        status: {
          ...statusOf(row),
          ...againstBaseline(view, row.differsIn),
          ...observedIn(found),
        },
      })),
      warnings: [...comparisonWarnings(found, view), ...notComparable(found)],
    }
  },
})

function statusOf({
  key,
  drift,
  class: kindOfDrift,
  clusters,
  missingFrom,
  behind,
  notes,
}: ImageRow) {
  const tags = new Set(clusters.flatMap((use) => use.tags))
  return {
    ...{ image: key, drift, class: kindOfDrift, tags: [...tags].sort().join(', ') },
    clusters: clusters.map((use) => ({
      ...{ cluster: use.cluster, tags: use.tags, digests: use.digests, mixed: use.mixed },
      ...{ rollingOut: use.rollingOut, containers: use.containers, namespaces: use.namespaces },
    })),
    ...{ runningIn: clusters.length, missingFrom, behind, behindText: behind.join(', '), notes },
  }
}

/** References can be of any length; the warning is a header. */
const IMAGE_MOST_CHARACTERS = 80

/** They have no name that an object could have. */
function notComparable({ notComparable: images }: ImageDrift): readonly string[] {
  if (images.length === 0) return []
  const named = images.map(({ image, clusters }) => {
    const shown = JSON.stringify(image.slice(0, IMAGE_MOST_CHARACTERS))
    return `${shown} (in ${clusters.length} ${clusters.length === 1 ? 'cluster' : 'clusters'})`
  })
  return [`not comparable are the images ${namedClusters(named)}`]
}
