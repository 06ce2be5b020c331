/** Names of namespaces: labels of DNS, so none has a slash, a dot or a comma in it. */

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** @see apimachinery/pkg/util/validation/validation.go, IsDNS1123Label */
export function isNamespaceName(text: string): boolean {
  return DNS_LABEL.test(text)
}
