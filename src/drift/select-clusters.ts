/** Which clusters are compared: by name, glob or label, as `--clusters` and `--baseline` say. */
import { matchesGlob } from '../kube/glob.ts'
import { type LabelRequirement, matchesLabels, parseLabelSelector } from '../kube/label-selector.ts'
import { messageOf } from '../kube/message-of.ts'
import type { SourceCluster } from './source.ts'

/** What was asked for cannot be compared. Its message is a sentence for whoever asked. */
export class SelectionFault extends Error {
  override readonly name = 'SelectionFault'
}

export interface Selection {
  /** Each a list of globs (`prod-*,edge-1`) or a label selector (`env=prod,region in (eu,us)`). */
  readonly clusters: readonly string[]
  readonly baseline?: string | undefined
}

/**
 * A cluster that one of them selects is in; without any, all are. The baseline always is.
 *
 * @throws {@link SelectionFault} for what cannot be read, or selects nothing.
 */
export function selectClusters(
  all: readonly SourceCluster[],
  { clusters, baseline }: Selection,
): readonly SourceCluster[] {
  if (baseline !== undefined && !all.some(({ name }) => name === baseline)) {
    throw new SelectionFault(`--baseline: there is no cluster ${JSON.stringify(baseline)}`)
  }
  const chosen = clusters.map((text) => ({ text, selects: selectorFrom(text) }))
  for (const { text, selects } of chosen) {
    if (!all.some(selects)) {
      throw new SelectionFault(`--clusters ${JSON.stringify(text)} selects no cluster`)
    }
  }
  if (all.length === 0) throw new SelectionFault('there is no cluster to compare')
  if (chosen.length === 0) return all
  return all.filter(
    (cluster) => cluster.name === baseline || chosen.some(({ selects }) => selects(cluster)),
  )
}

type Selects = (cluster: SourceCluster) => boolean

/** None of these characters can be in a name of a cluster. */
const LABEL_SYNTAX = /[=!()]/

function selectorFrom(text: string): Selects {
  if (LABEL_SYNTAX.test(text)) {
    const requirements = parsed(text)
    return ({ labels }) => matchesLabels(requirements, labels)
  }
  const globs = text.split(',').map((glob) => glob.trim())
  if (globs.includes('')) {
    throw new SelectionFault(
      `--clusters must be names, globs or labels, not ${JSON.stringify(text)}`,
    )
  }
  return ({ name }) => globs.some((glob) => matchesGlob(glob, name))
}

function parsed(text: string): readonly LabelRequirement[] {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    const why = messageOf(error)
    throw new SelectionFault(`--clusters ${JSON.stringify(text)}: ${why}`)
  }
}
