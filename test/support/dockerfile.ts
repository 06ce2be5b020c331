/** Dockerfile, read as far as its tests need: stages, and the instructions of each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Instruction {
  /** In capitals. */
  readonly name: string
  readonly text: string
}

export interface Stage {
  readonly name: string
  readonly base: string
  readonly instructions: readonly Instruction[]
}

export interface Copy {
  /** The stage; undefined: the repository. */
  readonly from?: string
  readonly sources: readonly string[]
  readonly target: string
}

export const ROOT = join(import.meta.dirname, '../..')

export function readDockerfile(): readonly Stage[] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const stages: { name: string; base: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') {
      const [base = '', , as = 'final'] = text.split(' ')
      stages.push({ name: as, base, instructions: [] })
    } else stages.at(-1)!.instructions.push({ name, text })
  }
  return stages
}

export function textOf({ instructions }: Stage, name: string): string | undefined {
  return instructions.findLast((one) => one.name === name)?.text
}

export function copiesOf({ instructions }: Stage): readonly Copy[] {
  return instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ text }) => {
      const words = text.split(' ')
      const from = /^--from=(.*)$/.exec(words[0]!)?.[1]
      const paths = from === undefined ? words : words.slice(1)
      return { ...(from && { from }), sources: paths.slice(0, -1), target: paths.at(-1)! }
    })
}
