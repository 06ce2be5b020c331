/** `fleetglass gate`: what is wrong with one cluster, in full, and what to do about it. */
import type { Command } from 'commander'
import { sweepEnvironment } from '../../config.ts'
import { gateJson, gateReport } from '../../fleet/gate.ts'
import { renderGate } from '../../fleet/render-gate.ts'
import { judgedAlone, type Target } from '../../fleet/sweep.ts'
import { addCommonFlags, type SweepSettings } from '../fleet/options.ts'
import { paintFor, progressOn, showUnseen } from '../fleet/terminal.ts'
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
  { failOn, rules, output, why }: SweepSettings,
): Promise<number> {
  const { context } = target!
  const progress = progressOn(process.stderr, 1)
  const { judged, ...unseen } = await judgedAlone(target!, rules)
  progress.clear()
  showUnseen(process.stderr, [{ context, ...unseen }], { why })
  const report = gateReport(context, judged, failOn)
  const paint = paintFor(process.stdout, sweepEnvironment().noColor)
  process.stdout.write(output === 'json' ? gateJson(report) : renderGate(report, paint))
  return report.exitCode
}
