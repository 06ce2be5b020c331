/** The form in which a client wants objects of our own groups. */
import type { FastifyReply } from 'fastify'
import { negotiateObjects } from '../../kube/media-type.ts'
import { served } from '../../registration/list.ts'
import { type Exchange, queryOf, sendText } from '../exchange.ts'
import { includeObjectOf } from '../routes/table-options.ts'
import type { KindRoutes } from './kind-routes.ts'
import { type Representer, representer } from './represent.ts'

export interface Form extends Representer {
  readonly encoding: 'json' | 'yaml'
}

/** @throws 400 and 406. */
export function formOf(
  parts: Pick<KindRoutes, 'kind' | 'clock'>,
  exchange: Exchange,
  answer: 'object' | 'list',
): Form {
  const representation = negotiateObjects(exchange.request.headers.accept, answer)
  const { as, encoding } = representation
  const made = representer({
    kind: parts.kind,
    representation,
    includeObject: as === 'Table' ? includeObjectOf(queryOf(exchange)) : 'None',
    nowMilliseconds: () => parts.clock.now(),
  })
  return { ...made, encoding }
}

export function sendObject(
  exchange: Exchange,
  form: Form,
  { text, code = 200 }: { readonly text: string; readonly code?: number },
): FastifyReply {
  return sendText(exchange, form.object(served(text)), { encoding: form.encoding, code })
}
