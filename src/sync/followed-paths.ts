/**
 * The paths under which one type is followed: one for all of it, or one per namespace; how far each
 * is, and which of them the member refuses. Refused ones do not hold up the others.
 */

export interface FollowedPath {
  /** `/api/v1/namespaces/shop/pods` */
  readonly path: string
  /** Undefined: the path is that of the whole type. */
  readonly namespace?: string
}

export class FollowedPaths {
  readonly #paths: readonly FollowedPath[]
  readonly #positions = new Map<string, string>()
  readonly #refused = new Set<string>()

  constructor(paths: readonly FollowedPath[]) {
    this.#paths = paths
  }

  get all(): readonly string[] {
    return this.#paths.map(({ path }) => path)
  }

  /** Those that may be followed. */
  get open(): readonly string[] {
    return this.all.filter((path) => !this.#refused.has(path))
  }

  get refused(): readonly string[] {
    return [...this.#refused]
  }

  /** Namespaces that cannot be read; in order. */
  get closedNamespaces(): readonly string[] {
    return this.#paths
      .filter(({ path }) => this.#refused.has(path))
      .map(({ namespace = '' }) => namespace)
      .sort()
  }

  /** Of a type that has one path only, a refusal is a failure like any other. */
  get isDivided(): boolean {
    return this.#paths.length > 1
  }

  refuse(path: string): void {
    this.#refused.add(path)
    this.#positions.delete(path)
  }

  /** A list begins: every path is tried. */
  forgetRefusals(): void {
    this.#refused.clear()
  }

  positionOf(path: string): string {
    return this.#positions.get(path) ?? ''
  }

  move(path: string, resourceVersion: string): void {
    this.#positions.set(path, resourceVersion)
  }

  /** An API server without resourceVersions cannot say where a watch would begin. */
  get canWatch(): boolean {
    return this.open.every((path) => !['', '0'].includes(this.positionOf(path)))
  }

  /** What every path has passed: resuming there repeats some events, and misses none. */
  get lowest(): string {
    const all = this.open.map((path) => this.positionOf(path))
    if (!all.every(isNumber)) return all.length === 1 ? all[0]! : ''
    return all.reduce((lowest, one) => (BigInt(one) < BigInt(lowest) ? one : lowest))
  }
}

/** Versions are opaque to clients, but every API server we know of counts. */
export function isNumber(text: string): boolean {
  return /^\d+$/.test(text)
}
