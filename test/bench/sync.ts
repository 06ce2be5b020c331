/** `npm run bench:sync`: first sync, changes at several rates, a restart, large objects. */
import { since } from './cpu-seconds.ts'
import { measureFloor, timed } from './floor.ts'
import { MeasuredFleet } from './measured-fleet.ts'
import { printLine, sizesAsked } from './settings.ts'

const RATES = [500, 1_000, 3_000, 5_000]
const SECONDS = 5
const LARGE = { count: 300, bytes: 1_400_000 }

const sizes = sizesAsked()
const objects = sizes.clusters * (sizes.pods + 2 * sizes.workloads + 40)
console.log(`${sizes.clusters} clusters, ${objects} objects`)
const fleet = await MeasuredFleet.start(sizes)
try {
  const before = fleet.processes.usage()
  let reads: readonly number[] = []
  const seconds = await timed(async () => {
    reads = await fleet.readDuring(fleet.sync())
  })
  const used = since(before, fleet.processes.usage())
  const floor = await measureFloor(fleet.store)
  const times = (seconds / floor.copyInSeconds).toFixed(1)
  printLine('first sync', `${seconds.toFixed(1)} s`, `${times} times its floor`)
  printLine('  CPU of the syncer', `${used.syncer.toFixed(1)} s`)
  printLine('  CPU of PostgreSQL', `${used.postgres.toFixed(1)} s`)
  printLine(
    '  peak memory of the syncer',
    `${fleet.processes.peakMegabytes().syncer.toFixed(0)} MB`,
  )
  const read = (part: number) => `${reads[Math.floor(reads.length * part)]?.toFixed(0)} ms`
  printLine('  table of 500 pods meanwhile, 99th percentile', read(0.99), `median ${read(0.5)}`)
  printLine('floor: all pods into a table of text', `${floor.copyInSeconds.toFixed(1)} s`)
  const { rows } = await fleet.store.pool.query(
    'select pg_database_size(current_database()) as bytes',
  )
  printLine('disk', `${(Number(rows[0].bytes) / 1e6).toFixed(0)} MB`)
  for (const rate of RATES) {
    const start = fleet.processes.usage()
    const { sent, seconds: took, lagSeconds } = await fleet.change({ rate, seconds: SECONDS })
    const { syncer, postgres } = since(start, fleet.processes.usage())
    const perThousand = (cpu: number) => `${((cpu / sent) * 1000).toFixed(2)} s`
    printLine(
      `${rate} changes a second, last one stored after`,
      `${lagSeconds.toFixed(2)} s`,
      `sent at ${(sent / took).toFixed(0)}/s; CPU for 1,000: syncer ${perThousand(syncer)}, PostgreSQL ${perThousand(postgres)}`,
    )
  }
  const { seconds: away, rowsWritten } = await fleet.restart()
  printLine('restart: in step again after', `${away.toFixed(1)} s`, `${rowsWritten} rows written`)
  const grown = await fleet.syncLarge(LARGE.count, LARGE.bytes)
  printLine('300 ConfigMaps of 1.4 MB: memory above idle', `${grown.toFixed(0)} MB`)
} finally {
  await fleet.stop()
}
