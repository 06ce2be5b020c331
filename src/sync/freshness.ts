/**
 * When the member was last heard of about a type: what tells a quiet type from a dead watch.
 *
 * A watch of a type in which nothing happens brings a bookmark about each minute. Silence for longer
 * is a connection that is half open, or a proxy that holds back what it gets; a watch that is opened
 * anew after it proves nothing until something comes of it. API servers of their own kind behind the
 * aggregator may send no bookmarks: their silence says nothing, until one has come.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
 */
interface Heard {
  /** Milliseconds since 1970. */
  at: number
  silent: boolean
}

export class Freshness {
  readonly #now: () => number
  #sendsBookmarks: boolean
  readonly #paths = new Map<string, Heard>()

  constructor(options: { readonly now: () => number; readonly sendsBookmarks: boolean }) {
    this.#now = options.now
    this.#sendsBookmarks = options.sendsBookmarks
  }

  /** An event, a bookmark, a complete list, or the end that the server itself gave to a watch. */
  heard(path: string): void {
    this.#paths.set(path, { at: this.#now(), silent: false })
  }

  bookmark(): void {
    this.#sendsBookmarks = true
  }

  /** What happened meanwhile comes first of it, so nothing is missing so far. */
  opened(path: string): void {
    if (!this.#paths.get(path)?.silent) this.heard(path)
  }

  /** Nothing came of a watch for longer than bookmarks are apart. */
  fellSilent(path: string): void {
    const before = this.#paths.get(path)
    if (before && this.#sendsBookmarks) this.#paths.set(path, { ...before, silent: true })
  }

  /** When the one of these paths was heard of that was not for longest; undefined: never. */
  heardAt(paths: readonly string[]): number | undefined {
    const times = paths.map((path) => this.#paths.get(path)?.at)
    return times.some((at) => at === undefined) || times.length === 0
      ? undefined
      : Math.min(...(times as number[]))
  }
}
