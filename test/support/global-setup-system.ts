/** As global-setup.ts, on the machine's own PostgreSQL. */
import type { TestProject } from 'vitest/node'
import { setupOn } from './global-setup.ts'

export function setup(project: TestProject): Promise<() => Promise<void>> {
  return setupOn('system', project)
}
