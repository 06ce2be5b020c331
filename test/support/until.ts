/** Waits for something to become true, and fails loudly when it does not. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  milliseconds = 10_000,
): Promise<void> {
  const end = Date.now() + milliseconds
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not so after ${milliseconds} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
