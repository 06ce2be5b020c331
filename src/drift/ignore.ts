/** `--ignore`: what is left out of a comparison by its key. */
import { matchesGlob } from '../kube/glob.ts'

export function ignoring(globs: readonly string[]): (key: string) => boolean {
  return (key) => globs.some((glob) => matchesGlob(glob, key))
}
