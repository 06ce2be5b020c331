/** Objects of one type that cannot be mirrored: what the type's condition says of them. */
import { printable } from '../kube/printable.ts'
import type { ObjectKey } from '../store/object-row.ts'

/** How many are named one by one; the count goes on. */
const MOST_KEPT = 1000
const NAMED = 3

export class RefusedObjects {
  readonly #byKey = new Map<string, string>()
  #unnamed = 0
  #lastUnnamed = ''

  clear(): void {
    this.#byKey.clear()
    this.#unnamed = 0
  }

  add(key: ObjectKey | undefined, why: string): void {
    const known = key && (this.#byKey.has(nameOf(key)) || this.#byKey.size < MOST_KEPT)
    if (known) {
      this.#byKey.set(nameOf(key), why)
      return
    }
    this.#unnamed++
    this.#lastUnnamed = why
  }

  /** A later state of the object is fine, or it is gone. @returns whether that changes the sentence. */
  accepted(key: ObjectKey): boolean {
    return this.#byKey.size > 0 && this.#byKey.delete(nameOf(key))
  }

  /** `''` when all objects are mirrored. */
  sentence(): string {
    const count = this.#byKey.size + this.#unnamed
    if (count === 0) return ''
    const some = [...this.#byKey]
      .slice(0, NAMED)
      .map(([name, why]) => `${shortened(name, NAME_MOST)}: ${why}`)
    if (some.length < NAMED && this.#unnamed > 0) some.push(this.#lastUnnamed)
    const more = count > some.length ? ` and ${count - some.length} more` : ''
    const are = count === 1 ? 'object is' : 'objects are'
    return `${count} ${are} not mirrored: ${shortened(printable(some.join('; ')), SENTENCE_MOST)}${more}`
  }
}

/** A name is as long as the member likes, and must not hide why. */
const NAME_MOST = 120
const SENTENCE_MOST = 500

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

function nameOf({ namespace, name }: ObjectKey): string {
  return namespace === '' ? name : `${namespace}/${name}`
}
