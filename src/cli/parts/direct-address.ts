/** Where readers reach the API server past the aggregator, as the settings say. */
import { CertificateBundle } from '../../apiserver/access/authentication/certificate-bundle.ts'
import type { DirectAddress } from '../../apiserver/cluster-configs.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import { watchFiles } from './watched-files.ts'

export const DIRECT_SETTINGS = ['advertiseDirectUrl', 'advertiseDirectCaFile'] as const

export interface DirectAddressParts {
  readonly config: Config<(typeof DIRECT_SETTINGS)[number]>
  readonly clock: Clock
  readonly log: Logger
}

/** @throws CommandFailure when the CA cannot be used. */
export function directAddressOf(
  { config, clock, log }: DirectAddressParts,
  started: AsyncDisposableStack,
): DirectAddress | undefined {
  const { advertiseDirectUrl: url, advertiseDirectCaFile: caFile } = config
  if (url === undefined) return undefined
  if (caFile === undefined) return { url, ca: () => undefined }
  const parse = (text = '') => new CertificateBundle(text).pem
  const files = watchFiles({ paths: [caFile], parse, clock, log })
  started.defer(() => files.stop())
  return { url, ca: () => files.current }
}
