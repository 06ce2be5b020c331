/** A syncer as a process of its own, to be killed: as in production but for the waiting. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import { createLogger } from '../../src/log.ts'
import { databaseRegistrationSource } from '../../src/registration/database-source.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import { connectStore } from '../../src/store/connect.ts'
import { startFleetSyncer } from '../../src/sync/fleet-syncer.ts'
import { QUICK } from '../sync/quick-limits.ts'

const [url = '', keyFile = ''] = process.argv.slice(2)
const store = await connectStore({ url, applicationName: 'chaos syncer' })
const keyring = createKeyring(readFileSync(keyFile))
const registrations = createRegistrations({ store, keyring, clock: systemClock })
await startFleetSyncer({
  ...{ store, keyring, clock: systemClock, secretValues: 'store' },
  registrations: databaseRegistrationSource(registrations),
  holder: `syncer ${process.pid}`,
  log: createLogger('warn'),
  limits: {
    ...QUICK,
    leaseSeconds: 2,
    // Small, so that faults meet lists of several pages and batches that are full.
    follow: { ...QUICK.follow, pageItems: 20, idleMilliseconds: 1_500 },
    batch: { ...QUICK.batch, rows: 15 },
  },
})
