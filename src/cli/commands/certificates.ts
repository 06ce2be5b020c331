/** `fleetglass certificates`: makes and renews what the aggregator verifies us by. For a CronJob. */
import type { Command } from 'commander'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { ManagementError } from '../../management/management-error.ts'
import { keepCertificates } from '../certificates/keep-certificates.ts'
import { CommandFailure } from '../failure.ts'
import { openManagementCluster } from '../parts/management-cluster.ts'
import { addSettings, readSettings } from '../setting-options.ts'

const TAKES = ['kubeconfig', 'namespace', 'tlsSan'] as const

export function defineCertificates(program: Command): void {
  const command = program
    .command('certificates')
    .description('make or renew the certificates of a management cluster’s API servers')
  addSettings(command, TAKES).action(() => runCertificates(readSettings(command, TAKES)))
}

async function runCertificates(config: Config<(typeof TAKES)[number]>): Promise<void> {
  const { tlsSan: names = [], ...where } = config
  await using started = new AsyncDisposableStack()
  const client = openManagementCluster({ ...where, registrations: 'management' }, started)!
  try {
    const done = await keepCertificates({ client, names, now: systemClock.now() })
    for (const what of done) console.log(what)
    if (done.length === 0) console.log('nothing to do')
  } catch (error) {
    if (!(error instanceof ManagementError)) throw error
    throw new CommandFailure(`cannot keep the certificates: ${error.message}`, { cause: error })
  }
}
