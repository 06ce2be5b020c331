/**
 * The tokens of an object's words: of its name, its labels and annotations (keys and values), and of
 * the images that it names.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import { CLUSTER_ANNOTATION, type KubeObject } from '../kube/kube-object.ts'
import { fieldHash, type Hash64, typeSeed, wordPath } from '../kube/search-token.ts'
import { LONGEST_WORD, wordsOf } from '../kube/search-words.ts'
import { TokenList } from './token-list.ts'

/** Of one text: some annotations are whole files. */
export const WORDS_MOST = 1_000

/** Keys and values of labels come again and again. */
const KNOWN_TEXTS_MOST = 10_000
const KNOWN_CHARACTERS_MOST = 100

/** For objects of one type; holds buffers that are used again, so one object at a time. */
export class WordTokens {
  readonly #path: Hash64
  readonly #tokens = new TokenList()
  readonly #known = new Map<string, readonly Hash64[]>()

  constructor(type: GroupResource) {
    this.#path = wordPath(typeSeed(type))
  }

  /** Each once. */
  of({ metadata = {} }: KubeObject, images: readonly string[]): BigInt64Array {
    this.#tokens.clear()
    this.#add(metadata.name)
    this.#addAll(metadata.labels)
    this.#addAll(metadata.annotations)
    for (const image of images) this.#add(image)
    return this.#tokens.toArray()
  }

  #addAll(texts: unknown): void {
    if (typeof texts !== 'object' || texts === null) return
    for (const [key, value] of Object.entries(texts)) {
      if (key === CLUSTER_ANNOTATION) continue
      this.#add(key)
      this.#add(value)
    }
  }

  #add(text: unknown): void {
    if (typeof text !== 'string') return
    for (const token of this.#known.get(text) ?? this.#make(text)) this.#tokens.add(token)
  }

  #make(text: string): readonly Hash64[] {
    const tokens = wordsOf(text)
      .slice(0, WORDS_MOST)
      .filter((word) => word.length <= LONGEST_WORD)
      .map((word) => fieldHash(this.#path, word))
    if (text.length > KNOWN_CHARACTERS_MOST) return tokens
    if (this.#known.size >= KNOWN_TEXTS_MOST) this.#known.clear()
    this.#known.set(text, tokens)
    return tokens
  }
}
