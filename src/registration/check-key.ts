/** Whether a key is the one that the stored credentials were sealed with. */
import type { Keyring } from '../keyring.ts'
import type { Store } from '../store/connect.ts'
import { allRegistrations } from '../store/registrations.ts'
import { openedSecrets, sealingContext } from './credentials.ts'

/**
 * False when credentials are stored and none of them opens: the key is another installation's. A
 * single one that does not open is that registration's trouble, and no reason to stop.
 */
export async function isKeyOf(store: Store, keyring: Keyring): Promise<boolean> {
  const sealed = (await allRegistrations(store)).filter(({ credentials }) => credentials !== null)
  return (
    sealed.length === 0 ||
    sealed.some(
      ({ credentials, uid, ...of }) =>
        openedSecrets(credentials, keyring, sealingContext(of, uid)) !== undefined,
    )
  )
}
