/**
 * Whether the fleetglass in this container is alive, for engines that ask by a command (Kubernetes
 * asks by HTTP): at /livez of an API server, or of where a syncer serves its metrics.
 *
 * Listening addresses are read from the same variables as the server reads them from; by a flag or
 * a file they are not seen here.
 */
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'

const { FLEETGLASS_LISTEN, FLEETGLASS_METRICS_LISTEN } = process.env
const API = { get: getSecure, port: portOf(FLEETGLASS_LISTEN) ?? 8443, path: '/livez' }
const METRICS = { get: getPlain, port: portOf(FLEETGLASS_METRICS_LISTEN), path: '/livez' }

const answers = await Promise.all([API, METRICS].map(isAlive))
process.exit(answers.includes(true) ? 0 : 1)

function portOf(address) {
  const port = /:(\d+)$/.exec(address ?? '')?.[1]
  return port && Number(port)
}

function isAlive({ get, port, path }) {
  if (port === undefined) return false
  return new Promise((resolve) => {
    // Not who answers is asked, but whether somebody does; nothing secret is sent.
    const options = { host: '127.0.0.1', port, path, rejectUnauthorized: false, timeout: 4000 }
    get(options, (answer) => resolve(answer.resume().statusCode === 200))
      .on('timeout', () => resolve(false))
      .on('error', () => resolve(false))
  })
}
