/** Ends a test run with the one line that other programs read: `N passed, N failed`. */
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

// vitest loads a reporter from a path by its default export.
export default class CountReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly unknown[],
    reason: TestRunEndReason,
  ): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed').length
    const skipped = tests.filter((test) => test.result().state === 'skipped').length
    const failed = tests.filter((test) => test.result().state === 'failed').length
    // A file that does not load, or an error outside every test, fails the run as well.
    const unloaded = modules.filter((module) => module.errors().length > 0).length
    const other = reason === 'passed' ? 0 : Math.max(0, 1 - failed)
    const failures = Math.max(failed + unloaded + unhandledErrors.length, other)
    const skips = skipped > 0 ? `, ${skipped} skipped` : ''
    process.stdout.write(`\n${passed} passed, ${failures} failed${skips}\n`)
  }
}
