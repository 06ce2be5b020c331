/** What was not seen and why, for whoever runs the command: beside the report, never in it. */
import { CAUSES, type Cause } from '../../fleet/cause.ts'
import { identityOf } from '../../fleet/outcome.ts'
import { sanitiseName } from '../../fleet/row-name.ts'
import type { UnseenOf } from '../../fleet/sweep.ts'
import { compareBytes } from '../../kube/byte-order.ts'
import { messageOf } from '../failure.ts'

export interface UnseenTextOptions {
  /** With what was answered or thrown, which may name servers, paths and objects. */
  readonly inFull: boolean
}

const NAMES_SHOWN = 5

/** A line for each reason; clusters of which the same was not seen share it. */
export function unseenLines(
  unseen: readonly UnseenOf[],
  { inFull }: UnseenTextOptions,
): readonly string[] {
  const said = unseen.flatMap((one) => {
    const name = sanitiseName(identityOf(one))
    return sentencesOf(one, inFull).map((sentence) => ({ name, sentence }))
  })
  const bySentence = Map.groupBy(said, ({ sentence }) => sentence)
  return [...bySentence]
    .map(([sentence, of]) => `${listed(of.map(({ name }) => name))}: ${sentence}`)
    .sort(compareBytes)
}

function sentencesOf({ cause, causes }: UnseenOf, inFull: boolean): readonly string[] {
  if (cause) return [`nothing was seen: ${textOf(cause, inFull)}`]
  const byText = Map.groupBy(causes, ([, one]) => textOf(one, inFull))
  return [...byText].map(([text, of]) => {
    const resources = of.map(([resource]) => resource).sort(compareBytes)
    return `not seen, ${text}: ${resources.join(', ')}`
  })
}

function textOf({ word, error }: Cause, inFull: boolean): string {
  const text = CAUSES[word]
  return inFull && error !== undefined ? `${text} (${sanitiseName(messageOf(error))})` : text
}

function listed(names: readonly string[]): string {
  const sorted = names.toSorted(compareBytes)
  const more = sorted.length - NAMES_SHOWN
  const shown = sorted.slice(0, NAMES_SHOWN).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
