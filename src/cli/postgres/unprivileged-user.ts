/**
 * Whom the embedded PostgreSQL runs as. It refuses to run as root, so for root it is another user,
 * who must be able to reach every file it needs.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandFailure } from '../failure.ts'

export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

/** In order of preference; initdb wants one that has a name. */
const CANDIDATES = ['fleetglass', 'postgres', 'nobody']

/** Undefined: the user we run as already will do. */
export function unprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const known = readFileSync('/etc/passwd', 'utf8').split('\n').map(readPasswdLine)
  for (const name of CANDIDATES) {
    const user = known.find((candidate) => candidate?.name === name)
    if (user) return { uid: user.uid, gid: user.gid }
  }
  throw new CommandFailure(
    `the embedded PostgreSQL does not run as root, and none of the users ${CANDIDATES.join(', ')} ` +
      'exists to run it as: add one, start as another user, or give --database-url',
  )
}

function readPasswdLine(line: string): (SystemUser & { readonly name: string }) | undefined {
  const [name, , uid, gid] = line.split(':')
  return name && uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : undefined
}

/** Whether this user may read what is in the folder, or go through it, given the modes on the way. */
export function canReach(user: SystemUser, folder: string, to: 'read' | 'pass'): boolean {
  return ancestorsOf(folder).every((path) => {
    const { uid, gid, mode } = statSync(path)
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
    const wanted = path === folder && to === 'read' ? 0o5 : 0o1
    return ((mode >> shift) & wanted) === wanted
  })
}

function ancestorsOf(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...ancestorsOf(parent), path]
}
