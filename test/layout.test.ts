/** The layers of src/ hold, and whoever adds a folder gives it a rank. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  cruise,
  type ICruiseOptions,
  type ICruiseResult,
  type IForbiddenRuleType,
} from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { beforeAll, describe, expect, test } from 'vitest'
import { LAYER_RULES, RANK } from './support/layer-rules.ts'

const root = join(import.meta.dirname, '..')
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts'),
)

async function cruised(extra: readonly IForbiddenRuleType[] = []): Promise<ICruiseResult> {
  const options: ICruiseOptions = {
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: [...LAYER_RULES, ...extra] },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  }
  const resolving = { conditionNames: ['import', 'node', 'default'], exportsFields: ['exports'] }
  const tsConfig = extractTSConfig(join(root, 'tsconfig.json'))
  const { output } = await cruise(['src'], options, resolving, { tsConfig })
  return output as ICruiseResult
}

describe('the layers of src/', () => {
  let found: ICruiseResult
  beforeAll(async () => {
    found = await cruised()
  })

  test('every source file was looked at', () => {
    const seen = found.modules.map((module) => module.source)
    expect(seen).toEqual(expect.arrayContaining(sources.map((path) => `src/${path}`)))
  })

  test('imports were followed, types included', () => {
    const settings = found.modules.find((module) => module.source === 'src/settings.ts')
    const log = found.modules.find((module) => module.source === 'src/log.ts')
    expect(settings?.dependencies.map((to) => to.resolved)).toContain('src/log.ts')
    expect(log?.dependencies.some((to) => to.resolved.includes('node_modules/pino/'))).toBe(true)
  })

  test('a rule that is broken is reported', async () => {
    const from = { path: '^src/config' }
    const { summary } = await cruised([{ name: 'probe', severity: 'error', from, to: {} }])
    expect(summary.violations.map((violation) => violation.rule.name)).toContain('probe')
  })

  test('no import goes up, sideways or in a circle', () => {
    const violations = found.summary.violations.map(
      ({ rule, from, to }) => `${rule.name}: ${from} imports ${to}`,
    )
    expect(violations).toEqual([])
  })

  test('every folder has a rank', () => {
    const folders = new Set(sources.filter((path) => path.includes('/')).map(folderOf))
    expect(Object.keys(RANK)).toEqual(expect.arrayContaining([...folders]))
  })
})

function folderOf(path: string): string {
  return path.split('/')[0]!
}
