/** `fleetglass gate`: what is wrong with one cluster, in full, and what to do about it. */
import type { Command } from 'commander'
import { sweepEnvironment } from '../../config.ts'
import { gateJson, gateReport } from '../../fleet/gate.ts'
import { renderGate } from '../../fleet/render-gate.ts'
import { judge, reasonOf, type Target } from '../../fleet/sweep.ts'
import { addCommonFlags, type SweepSettings } from '../fleet/options.ts'
import { paintFor, progressOn } from '../fleet/terminal.ts'
import { addSweepCommand } from '../fleet/usage.ts'
import { addStoreFlags, withTargets } from '../fleet/with-targets.ts'

export function defineGate(program: Command, exitWith: (exitCode: number) => void): void {
  const command = addSweepCommand(program, 'gate')
    .description('judge one cluster and print every finding; the exit code is for CI')
    .option('--context <NAME>', 'the cluster (default: the current context)')
  addCommonFlags(command)
  addStoreFlags(command)
  command.action(async () => {
    const { context } = command.opts<{ readonly context?: string }>()
    const given = context === undefined ? {} : { context: [context] }
    exitWith(await withTargets(command, given, runGate))
  })
}

async function runGate(
  [target]: readonly Target[],
  { failOn, rules, output }: SweepSettings,
): Promise<number> {
  const { context } = target!
  const progress = progressOn(process.stderr, 1)
  const judged = await target!.observe(new AbortController().signal).then(
    (observation) => judge(observation, rules),
    (error: unknown) => reasonOf(error),
  )
  progress.clear()
  const report = gateReport(context, judged, failOn)
  const paint = paintFor(process.stdout, sweepEnvironment().noColor)
  process.stdout.write(output === 'json' ? gateJson(report) : renderGate(report, paint))
  return report.exitCode
}
