/**
 * The API server in a process of its own, for tests that measure its memory: started by fork() with
 * the URL of a database, it sends `{ url, token }`, and its resident bytes whenever it is asked.
 */
import { connectStore } from '../../src/store/connect.ts'
import { fleetServer } from './fleet-server.ts'
import { APPLICATION_NAME } from './server-name.ts'

const url = process.argv[2]
if (!url) throw new Error('the URL of a database is missing')
const store = await connectStore({ url, applicationName: APPLICATION_NAME })
const fleet = await fleetServer(store)
process.on('message', () => process.send?.({ residentBytes: process.memoryUsage.rss() }))
process.on('disconnect', () => process.exit(0))
process.send?.({ url: await fleet.listen(), token: fleet.admin.token })
