/**
 * Request headers one value a line, as they were sent.
 *
 * Node joins lines of one name with commas, and a group's name may hold one: `X-Remote-Group: a, b`
 * is one group, two lines are two.
 */
import type { IncomingMessage } from 'node:http'

export class HeaderValues {
  readonly #values = new Map<string, string[]>()

  constructor({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>) {
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase()
      const known = this.#values.get(name)
      if (known) known.push(rawHeaders[i + 1]!)
      else this.#values.set(name, [rawHeaders[i + 1]!])
    }
  }

  /** In any case; empty ones are left out. */
  all(name: string): readonly string[] {
    return (this.#values.get(name.toLowerCase()) ?? []).filter((value) => value !== '')
  }

  /** Of the first of these that has one. */
  first(names: readonly string[]): string | undefined {
    for (const name of names) {
      const [value] = this.all(name)
      if (value !== undefined) return value
    }
    return undefined
  }

  /** Names in lower case, of headers that begin so. */
  startingWith(prefix: string): readonly string[] {
    const start = prefix.toLowerCase()
    return [...this.#values.keys()].filter((name) => name.startsWith(start))
  }
}

/**
 * What headers such as `X-Remote-Extra-scopes` say of someone, by what follows the prefix: in lower
 * case, percent-encoding undone where there is any.
 *
 * @see apiserver/pkg/authentication/request/headerrequest/requestheader.go, newExtra
 */
export function extraFrom(
  headers: HeaderValues,
  prefixes: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, readonly string[]>()
  for (const prefix of prefixes) {
    for (const name of headers.startingWith(prefix)) {
      const key = unescaped(name.slice(prefix.length))
      const values = headers.all(name)
      if (values.length > 0) extra.set(key, [...(extra.get(key) ?? []), ...values])
    }
  }
  return Object.fromEntries(extra)
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key // As upstream: better recorded as it came than lost.
  }
}
