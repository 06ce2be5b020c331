/** Why a command cannot go on, in a sentence for whoever typed it: printed alone, without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.exitCode = options.exitCode ?? 1
  }
}

/** The sentence of anything thrown. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return reasonOfSystemError(error) ?? error.message
}

/** Node says `ENOENT: no such file or directory, open '/x'`; whoever reports it names the file. */
function reasonOfSystemError(error: Error): string | undefined {
  if (!('code' in error && 'syscall' in error)) return undefined
  const call = `, ${String(error.syscall)}`
  const { message } = error
  const end = message.lastIndexOf(call)
  const start = `${String(error.code)}: `
  if (!message.startsWith(start) || end < start.length) return undefined
  return message.slice(start.length, end)
}

/** True for Node's file and process errors with this code, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
