/** The FleetAccess that `fleetglass token create --viewer` makes for one user, and its removal. */
import { ACCESS_GROUP, ACCESS_VERSION, type FleetAccess } from '../kube/fleet-access.ts'
import { apiVersionOf } from '../kube/group-resource.ts'
import { StatusError } from '../kube/status-error.ts'
import { kindOfResource } from '../registration/kinds.ts'
import type { Registrations } from '../registration/registrations.ts'
import { CommandFailure } from './failure.ts'

export interface ViewerRights {
  readonly user: string
  readonly clusters: readonly string[]
  readonly namespaces: readonly string[]
}

/** On FleetAccess objects that came with a token, so that they go with it. */
const TOKEN_ANNOTATION = 'fleetglass.io/token'
const KIND = kindOfResource(ACCESS_GROUP, 'fleetaccesses')

/** @throws CommandFailure with the API's own sentence. */
export async function createViewer(
  registrations: Registrations,
  { user, clusters, namespaces }: ViewerRights,
  { dryRun }: { readonly dryRun: boolean },
): Promise<void> {
  const manifest: FleetAccess = {
    apiVersion: apiVersionOf({ group: ACCESS_GROUP, version: ACCESS_VERSION }),
    kind: 'FleetAccess',
    metadata: { name: nameFor(user), annotations: { [TOKEN_ANNOTATION]: user } },
    spec: {
      subjects: [{ kind: 'User', name: user }],
      rules: [{ clusters, namespaces, apiGroups: ['*'], resources: ['*'] }],
    },
  }
  try {
    await registrations.create({
      kind: KIND,
      body: { text: JSON.stringify(manifest), format: 'json' },
      options: { fieldManager: 'fleetglass-token', dryRun },
    })
  } catch (error) {
    throw error instanceof StatusError ? new CommandFailure(error.message) : error
  }
}

/** @returns false when there is none that came with the token. */
export async function removeViewer(registrations: Registrations, user: string): Promise<boolean> {
  const { items } = await registrations.list({
    kind: KIND,
    selects: (object) => isOf(object, user),
  })
  for (const { object } of items) {
    const { name } = object.metadata as { readonly name: string }
    await registrations.delete({ kind: KIND, name, options: {} })
  }
  return items.length > 0
}

function isOf(object: unknown, user: string): boolean {
  const { metadata } = object as FleetAccess
  return metadata.annotations?.[TOKEN_ANNOTATION] === user
}

function nameFor(user: string): string {
  return `viewer-${user}`
}
