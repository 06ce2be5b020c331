import { expect, test } from 'vitest'
import { lastWordsIn } from '../../src/cli/postgres/last-words.ts'

test.each([
  [
    'initdb on a full disk',
    `2026-12-01 15:54:15.440 UTC [24419] FATAL:  could not write to file "pg_wal/xlogtemp.24419": No space left on device
child process exited with exit code 1
initdb: removing data directory "/data/postgres/data.unfinished"
`,
    'could not write to file "pg_wal/xlogtemp.24419": No space left on device',
  ],
  [
    'initdb where it may not write',
    `initdb: error: could not access directory "/data": Permission denied
initdb: hint: try another one
`,
    'could not access directory "/data": Permission denied',
  ],
  ['a server that was asked to end', '2026-12-01 UTC [7] LOG:  shutting down\n', 'shutting down'],
  ['nothing', '', ''],
])('%s', (_what, output, words) => {
  expect(lastWordsIn(output)).toBe(words)
})
