/** How large the measured fleet is: 120,400 objects, unless `--small` asks for a tenth. */
import type { Sizes } from './member-objects.ts'

const FULL: Sizes = { clusters: 10, pods: 10_000, workloads: 1_000 }
const SMALL: Sizes = { clusters: 10, pods: 1_000, workloads: 100 }

export function sizesAsked(): Sizes {
  return process.argv.includes('--small') ? SMALL : FULL
}

/** Two columns and a remark. */
export function printLine(what: string, figure: string, remark = ''): void {
  console.log(`${what.padEnd(44)} ${figure.padStart(14)}  ${remark}`)
}
