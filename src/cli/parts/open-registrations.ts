/** Registrations for a process that runs for long, which must have the installation's own key. */
import { isKeyOf } from '../../registration/check-key.ts'
import { createRegistrations, type Registrations } from '../../registration/registrations.ts'
import type { RegistrationContext } from '../../registration/write-object.ts'
import { CommandFailure } from '../failure.ts'

export interface OpenRegistrationsParts extends RegistrationContext {
  /** For the words of a refusal. */
  readonly keyFile: string
}

/** @throws CommandFailure when the credentials in the store were sealed with another key. */
export async function openRegistrations(
  { keyFile, ...context }: OpenRegistrationsParts,
  started: AsyncDisposableStack,
): Promise<Registrations> {
  if (!(await isKeyOf(context.store, context.keyring))) {
    throw new CommandFailure(
      `the credentials in the database were not sealed with the key in ${keyFile}: give the key of this installation (--encryption-key-file)`,
    )
  }
  const registrations = createRegistrations(context)
  started.defer(() => registrations.close())
  return registrations
}
