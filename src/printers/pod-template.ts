/** The CONTAINERS and IMAGES columns that all workloads share. */
import { fields, items, text } from './read-field.ts'

/** `app,sidecar`, init containers left out. */
export function containerNames(podSpec: unknown): string {
  return joined(podSpec, 'name')
}

export function containerImages(podSpec: unknown): string {
  return joined(podSpec, 'image')
}

function joined(podSpec: unknown, field: 'name' | 'image'): string {
  let line = ''
  for (const [i, container] of items(fields(podSpec).containers).entries()) {
    line += i === 0 ? text(fields(container)[field]) : `,${text(fields(container)[field])}`
  }
  return line
}
