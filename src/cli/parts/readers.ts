/**
 * Who may say who is asking, and who decides what FleetAccess does not: as the settings say, and
 * the management cluster where there is one.
 */
import type { Registry } from 'prom-client'
import { CertificateBundle } from '../../apiserver/access/authentication/certificate-bundle.ts'
import type { RequestHeaderTrust } from '../../apiserver/access/authentication/request-header.ts'
import type { Trust } from '../../apiserver/access/authentication/trust.ts'
import {
  type Authorizer,
  delegatedAuthorizer,
  standaloneAuthorizer,
} from '../../apiserver/access/authorizer.ts'
import {
  type FollowedTrust,
  followTrust,
} from '../../apiserver/access/delegated/extension-authentication.ts'
import { ReviewMetrics } from '../../apiserver/access/delegated/review-metrics.ts'
import { reviewedAccess } from '../../apiserver/access/delegated/reviewed-access.ts'
import { reviewedTokens } from '../../apiserver/access/delegated/reviewed-tokens.ts'
import type { ReadinessCheck } from '../../apiserver/health/plugin.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { ManagementClient } from '../../management/client.ts'
import { type WatchedFiles, watchFiles } from './watched-files.ts'

export const READER_SETTINGS = [
  'authorizationMode',
  'clientCaFile',
  'requestheaderClientCaFile',
  'requestheaderAllowedNames',
  'requestheaderUsernameHeaders',
  'requestheaderUidHeaders',
  'requestheaderGroupHeaders',
  'requestheaderExtraHeadersPrefix',
  'apiAudiences',
] as const

export type ReaderConfig = Config<(typeof READER_SETTINGS)[number]>

export interface ReadersParts {
  readonly config: ReaderConfig
  readonly management: ManagementClient | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Left out: nothing is counted. */
  readonly registry?: Registry
}

export interface Readers {
  readonly trust: Required<Pick<Trust, 'clientCas' | 'requestHeader'>> & Trust
  readonly authorize: Authorizer
  /** Rights are those of the management cluster's RBAC, not of FleetAccess. */
  readonly authorizePaths: boolean
  readonly readiness: readonly ReadinessCheck[]
}

/** @throws CommandFailure when files cannot be used. */
export function openReaders(parts: ReadersParts, started: AsyncDisposableStack): Readers {
  const { config, management, clock, log, registry } = parts
  const authorizePaths = config.authorizationMode === 'Aggregator'
  const proxyCa = bundleIn(config.requestheaderClientCaFile, parts, started)
  const clientCa = bundleIn(config.clientCaFile, parts, started)
  const told = management && followTrust({ client: management, clock, log })
  if (told) started.defer(() => told.stop())
  const metrics = registry && new ReviewMetrics(registry)
  const review = management && { client: management, clock, ...(metrics && { metrics }) }
  return {
    trust: {
      requestHeader: () => requestHeaderOf(config, proxyCa?.current) ?? told?.told.requestHeader,
      clientCas: () => [clientCa?.current ?? told?.told.clientCa ?? []].flat(),
      ...(review && {
        tokens: reviewedTokens({ ...review, audiences: config.apiAudiences ?? [] }),
      }),
    },
    authorize: review ? delegatedAuthorizer(reviewedAccess(review)) : standaloneAuthorizer,
    authorizePaths,
    readiness: told && !proxyCa ? [trustCheck(told)] : [],
  }
}

function trustCheck(told: FollowedTrust): ReadinessCheck {
  return { name: 'extension-apiserver-authentication', trouble: () => told.trouble }
}

function bundleIn(
  path: string | undefined,
  { clock, log }: ReadersParts,
  started: AsyncDisposableStack,
): WatchedFiles<CertificateBundle> | undefined {
  if (path === undefined) return undefined
  const parse = (text: string | undefined) => new CertificateBundle(text ?? '')
  const files = watchFiles({ paths: [path], parse, clock, log })
  started.defer(() => files.stop())
  return files
}

function requestHeaderOf(
  config: ReaderConfig,
  ca: CertificateBundle | undefined,
): RequestHeaderTrust | undefined {
  return (
    ca && {
      ca,
      allowedNames: config.requestheaderAllowedNames ?? [],
      usernameHeaders: config.requestheaderUsernameHeaders,
      uidHeaders: config.requestheaderUidHeaders ?? [],
      groupHeaders: config.requestheaderGroupHeaders,
      extraPrefixes: config.requestheaderExtraHeadersPrefix,
    }
  )
}
