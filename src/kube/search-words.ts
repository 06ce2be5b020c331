/**
 * The words of a text: what free-text search finds objects by.
 *
 * A word is a run of letters and digits of any script, in lower case; a dot between two digits is
 * part of it, so `silly-demo:1.4.2` has the words silly, demo and 1.4.2. The writer stores a token
 * for each (sync/word-tokens.ts), so changing this means raising TOKEN_VERSION.
 */

/** In UTF-16 units. What is longer (keys, encoded files) is nothing that people look for by heart. */
export const LONGEST_WORD = 64

const WORD = /(?:[\p{L}\p{N}\p{M}]|(?<=\p{Nd})\.(?=\p{Nd}))+/gu
const ASCII_WORD = /(?:[a-z0-9]|(?<=[0-9])\.(?=[0-9]))+/g

/** In their order, each as often as it stands there, too long ones included. */
export function wordsOf(text: string): readonly string[] {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? []
  // Composed first: é is one letter, however it was typed.
  return text.normalize('NFC').toLowerCase().match(WORD) ?? []
}
