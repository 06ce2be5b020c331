/**
 * Rights without FleetAccess: everyone who was let through may read everything.
 *
 * For installations that leave it to the management cluster's RBAC who reaches which path:
 * plugins/authorize-paths.ts.
 */
import type { FleetAccess } from '../../kube/fleet-access.ts'
import { AUTHENTICATED_GROUP } from '../identity.ts'
import type { AccessSource } from './create-access.ts'

const EVERYONE: FleetAccess = {
  metadata: { name: 'everyone' },
  spec: {
    subjects: [{ kind: 'Group', name: AUTHENTICATED_GROUP }],
    rules: [
      { clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    ],
  },
}

export const everyoneMayRead: AccessSource = {
  accessObjects: async () => [EVERYONE],
  onAccessChange: () => undefined,
}
