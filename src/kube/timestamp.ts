/** As Kubernetes writes a time (metav1.Time): RFC 3339 in UTC, in whole seconds. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}
