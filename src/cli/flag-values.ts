/** Values of flags that several commands take, for commander; durations: duration.ts. */
import { InvalidArgumentError } from 'commander'

/** A name as Kubernetes has them for accounts and namespaces. @see RFC 1123, label */
export function readLabel(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('It must be lower-case letters, digits and dashes.')
}
