/** Why a program of PostgreSQL ended, out of all that it wrote. */

/**
 * The last error, without its timestamp: what follows it is hints, and what was cleaned up. Where
 * nothing is called an error, the last line; `''` of nothing.
 */
export function lastWordsIn(output: string): string {
  const lines = output.trim().split('\n')
  const worst = lines.findLast((line) => /\b(FATAL|PANIC|error):/.test(line)) ?? lines.at(-1)!
  return worst.replace(/^.*?\b(FATAL|PANIC|LOG|error): +/, '')
}
