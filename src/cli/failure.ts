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
  return error instanceof Error ? error.message : String(error)
}

/** True for Node's file and process errors with this code, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
