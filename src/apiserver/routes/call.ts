/** What the routes of objects work with, and one request to them. */
import type { Clock } from '../../clock.ts'
import type { ResourcePath } from '../../kube/request-path.ts'
import type { Exchange } from '../exchange.ts'
import type { ObjectReader } from '../objects.ts'
import type { OpenStreams } from '../open-streams.ts'
import type { Surface } from '../prefixes.ts'
import type { AskedParts } from './asked.ts'

export interface ResourceParts extends AskedParts {
  readonly objects: ObjectReader
  readonly clock: Clock
  readonly openStreams: OpenStreams
  /** Whether a page that is not the last has a `continue` although nobody asked for it. */
  readonly continueByDefault: boolean
  /** How long a list takes at most that goes through a proxy. */
  readonly proxiedListMilliseconds?: number | undefined
}

export interface ObjectsCall extends Exchange {
  readonly query: URLSearchParams
  readonly surface: Surface
  readonly path: ResourcePath
}
