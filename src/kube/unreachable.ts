/**
 * The default of a switch over a closed set: a case that nobody handles does not compile, and if one
 * comes all the same, it fails rather than widen an answer.
 */
export function unreachable(value: never): never {
  throw new Error(`unhandled: ${JSON.stringify(value)}`)
}
