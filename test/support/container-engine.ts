/** Whether containers can be started here. */
import { getContainerRuntimeClient } from 'testcontainers'

export async function hasContainerEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient()
    return true
  } catch {
    // It says only that no engine was found in any of the usual places.
    return false
  }
}
