/**
 * The JSON of `fleetglass drift … --output json`, as JSON Schemas: what scripts may rely on.
 *
 * Minor versions add fields, so further properties are allowed everywhere; whoever reads pins the
 * major part of `schemaVersion` only.
 */

type Schema = Readonly<Record<string, unknown>>

const text = (description: string): Schema => ({ type: 'string', description })
const flag = (description: string): Schema => ({ type: 'boolean', description })
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description })
const oneOf = (description: string, values: readonly string[]): Schema => ({
  ...{ type: 'string', enum: values, description },
})
const list = (description: string, items: Schema = { type: 'string' }): Schema => ({
  ...{ type: 'array', items, description },
})
const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description })

/** All of these are required but those named after a question mark. */
function object(properties: Readonly<Record<string, Schema>>): Schema {
  const named = Object.entries(properties).map(([name, schema]) => ({
    ...{ name: name.replace(/\?$/, ''), isRequired: !name.endsWith('?'), schema },
  }))
  return {
    type: 'object',
    required: named.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
  }
}

const LEVEL = ['none', 'build', 'patch', 'minor', 'major']

function document(comparison: string, rest: Readonly<Record<string, Schema>>): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `https://fleetglass.io/schemas/drift-${comparison}-v1.json`,
    title: `fleetglass drift ${comparison}`,
    ...object({
      schemaVersion: { type: 'string', pattern: '^1\\.[0-9]+$' },
      comparison: { const: comparison },
      observedAt: {
        oneOf: [object({ from: time('the oldest'), to: time('the newest') }), { type: 'null' }],
        description: 'of when what was compared is; null when nothing was',
      },
      clusters: list('the clusters that were compared, by name'),
      comparable: count('how many clusters were compared; below 2 there is nothing to differ from'),
      unknown: list(
        'clusters of which not everything was seen; they are on neither side of a comparison',
        object({
          cluster: text('its name'),
          why: oneOf('in a word', ['disconnected', 'stale', 'forbidden', 'not collected']),
          message: text('in a sentence'),
        }),
      ),
      'baseline?': text('the cluster that all others were compared with'),
      driftDetected: flag('whether anything differs'),
      driftCount: count(
        'how many rows differ; of versions without a baseline, those beyond the first',
      ),
      notes: list('what a reader must know to read the rest right'),
      ...rest,
    }),
  }
}

const VERSION_COUNTS = (description: string) =>
  list(description, object({ version: text('as told'), nodes: count('how many nodes') }))

const VERSIONS = document('versions', {
  level: oneOf('the largest difference between any two, or to the baseline', LEVEL),
  versions: list(
    'each version once, the oldest first',
    object({ version: text('as told'), clusters: list('who runs it') }),
  ),
  rows: list(
    'one per compared cluster, by name',
    object({
      cluster: text('its name'),
      version: text('of its API server'),
      estimated: flag('the server did not tell: this is the newest version of its kubelets'),
      observedAt: time('of when this is'),
      preRelease: flag('an alpha, a beta or a release candidate'),
      'level?': oneOf('against the baseline', LEVEL),
      nodes: {
        oneOf: [
          object({
            nodes: count('how many there are'),
            kubelets: VERSION_COUNTS('the oldest first'),
            runtimes: VERSION_COUNTS('container runtimes'),
            kernels: VERSION_COUNTS('kernels'),
            operatingSystems: VERSION_COUNTS('operating systems'),
          }),
          { type: 'null' },
        ],
        description: 'null when its nodes are not known',
      },
      skew: list(
        'kubelets that break the version skew policy of Kubernetes',
        object({
          flag: oneOf('how', ['kubelet-newer', 'kubelet-too-old']),
          version: text('of the kubelet'),
          nodes: count('how many nodes'),
        }),
      ),
    }),
  ),
})

const IMAGES = document('images', {
  rows: list(
    'one per repository, by key',
    object({
      key: text('registry/path'),
      drift: flag('whether clusters run different ones'),
      class: oneOf('what the difference is, or what else is to be said', [
        ...['none', 'tag', 'digest', 'mixed', 'presence'],
      ]),
      clusters: list(
        'the compared clusters that run it, by name',
        object({
          cluster: text('its name'),
          tokens: list('what is pulled: digests of pinned images, tags of others'),
          tags: list('as written'),
          digests: list('what tags were resolved to, as far as known, and pinned digests'),
          mixed: flag('two tokens or more at once'),
          rollingOut: flag('a Deployment that uses it is between two templates'),
          roles: list('in which roles', {
            ...oneOf('role', ['container', 'init', 'sidecar', 'ephemeral']),
          }),
          containers: count('how many containers'),
          namespaces: count('in how many namespaces'),
        }),
      ),
      missingFrom: list('compared clusters that do not run it; no drift by itself'),
      behind: list('clusters whose newest tag is older than another’s, when tags are versions'),
      'differsIn?': list('clusters that differ from the baseline'),
      notes: list('what a reader must know of this image'),
    }),
  ),
  notComparable: list(
    'references that name nothing that could be compared; never drift',
    object({
      image: text('as written'),
      reason: oneOf('why', ['image-id', 'invalid']),
      clusters: list('who has it'),
    }),
  ),
})

const CRDS = document('crds', {
  total: count('how many definitions there are, by name'),
  rows: list(
    'one per definition, by name',
    object({
      key: text('<plural>.<group>'),
      drift: flag('whether it is missing somewhere, or not the same everywhere'),
      class: oneOf('which of the two; a difference comes first', ['none', 'missing', 'different']),
      presentIn: list('compared clusters that have it'),
      missingFrom: list('compared clusters that lack it'),
      unknownIn: list('clusters of which it is not known'),
      differences: list(
        'between those that have it',
        object({
          field: oneOf('what differs', [
            ...['served versions', 'storage version', 'scope', 'established', 'schemas'],
          ]),
          values: list(
            'each value once',
            object({ value: text('of schemas, a digest'), clusters: list('who has it') }),
          ),
        }),
      ),
      notEstablishedIn: list('where it is not served, or not yet'),
      terminatingIn: list('where it is being deleted'),
      'differsIn?': list('clusters that are not as the baseline'),
    }),
  ),
})

/** By the name that `fleetglass schema` takes. */
export const DRIFT_SCHEMAS: Readonly<Record<string, Schema>> = {
  'drift-versions': VERSIONS,
  'drift-images': IMAGES,
  'drift-crds': CRDS,
}
