/** How a get and a list begin: what is asked, by whom, and in which form it is answered. */
import { negotiateObjects, type Representation } from '../../kube/media-type.ts'
import type { Search } from '../../kube/search.ts'
import { noteServed } from '../audit.ts'
import { type Asked, askedByNow } from './asked.ts'
import type { ObjectsCall, ResourceParts } from './call.ts'
import { type RowForm, rowForm } from './row-form.ts'

export interface Opening {
  readonly asked: Asked
  readonly representation: Representation
  readonly form: RowForm
  readonly nowMilliseconds: number
}

/** @throws the refusals of {@link askedByNow}, and 406 for media types that are not offered. */
export async function openAnswer(
  parts: ResourceParts,
  call: ObjectsCall,
  { search, verb }: { readonly search: Search; readonly verb: 'get' | 'list' },
): Promise<Opening> {
  const { request, query, surface, path } = call
  const asked = await askedByNow(parts, { request, surface, path, search, verb })
  noteServed(request, asked.served)
  const representation = negotiateObjects(
    request.headers.accept,
    verb === 'get' ? 'object' : 'list',
  )
  const nowMilliseconds = parts.clock.now()
  const catalog = () => parts.catalog.current()
  const form = rowForm(representation, { asked, search, query, catalog, nowMilliseconds })
  return { asked, representation, form, nowMilliseconds }
}
