/** The logger that the rest of the code asks for. What stands behind it is chosen in cli/. */
import { type Logger as PinoLogger, pino } from 'pino'

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'child'>

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Credentials may sit in any of these; a log line must never show them. */
const REDACTED = ['*.tokenData', '*.keyData', '*.kubeconfig', '*.authorization', '*.password']

/** JSON lines on standard error, so that standard output stays for answers. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, redact: REDACTED, base: null }, pino.destination({ fd: 2, sync: true }))
}
