/** `fleetglass fleet`: which clusters are broken, the worst first. */
import type { Command } from 'commander'
import { sweepEnvironment } from '../../config.ts'
import { renderText } from '../../fleet/render-text.ts'
import { makeReport, reportJson } from '../../fleet/report.ts'
import { sweep, type Target, type UnseenOf } from '../../fleet/sweep.ts'
import { addCommonFlags, addWorkersFlag, type SweepSettings } from '../fleet/options.ts'
import { paintFor, progressOn, showUnseen } from '../fleet/terminal.ts'
import { addSweepCommand, collect } from '../fleet/usage.ts'
import { addStoreFlags, withTargets } from '../fleet/with-targets.ts'

export function defineFleet(program: Command, exitWith: (exitCode: number) => void): void {
  const command = addSweepCommand(program, 'fleet')
    .description('judge every selected cluster, the worst first; the exit code is for CI')
    .option('--context <NAME>', 'a cluster; may be repeated', collect)
    .option('--all-contexts', 'every cluster there is')
    .option('--match <GLOB>', 'of those, the ones whose name matches; * and ?')
    .option('--fleet-file <FILE>', 'a YAML list of contexts, with kubeconfig and name of each')
  addCommonFlags(command)
  addWorkersFlag(command)
  addStoreFlags(command)
  command.action(async () => exitWith(await withTargets(command, {}, runSweep)))
}

async function runSweep(
  targets: readonly Target[],
  { failOn, workers, rules, output, why }: SweepSettings,
): Promise<number> {
  const progress = progressOn(process.stderr, targets.length)
  const found: UnseenOf[] = []
  const unseen = (one: UnseenOf) => void found.push(one)
  const outcomes = await sweep(targets, { failOn, workers, rules, progress, unseen })
  progress.clear()
  showUnseen(process.stderr, found, { why })
  const report = makeReport(outcomes, failOn)
  const paint = paintFor(process.stdout, sweepEnvironment().noColor)
  process.stdout.write(output === 'json' ? reportJson(report) : renderText(report, paint))
  return report.exitCode
}
