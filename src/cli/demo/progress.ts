/** What goes on, on standard error: standard output belongs to the guide, or to the command run. */
export function progress(line: string): void {
  console.error(`· ${line}`)
}
