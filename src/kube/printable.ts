/**
 * Text that others sent, as it may be shown: control characters could rewrite a terminal, and signs
 * of direction and of no width could make it look like another text.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')
}
