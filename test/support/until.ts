/**
 * Only reached by what fails: longer than anything takes on a machine that is busy, and shorter than
 * a test may take (vitest.config.ts), so that the failure says what was waited for.
 */
export const PATIENCE_MILLISECONDS = 60_000

/** Waits for something to become true, and fails loudly when it does not. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  milliseconds = PATIENCE_MILLISECONDS,
): Promise<void> {
  const end = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not so after ${milliseconds} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
