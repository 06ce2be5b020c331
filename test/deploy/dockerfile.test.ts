/** The rules that Dockerfile must keep to; test/e2e/image.test.ts runs what it would hold. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { copiesOf, ROOT, readDockerfile, textOf } from '../support/dockerfile.ts'
import { hasKubectl, OVERLAYS, ofKind, podTemplateOf, renderOverlay } from '../support/manifests.ts'

const stages = readDockerfile()
const final = stages.at(-1)!
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const copied = stages.flatMap(copiesOf).filter(({ from }) => from === undefined)
const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
const letIn = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1))

describe('what is copied', () => {
  const sources = [...new Set(copied.flatMap((copy) => copy.sources))]

  test.each(sources)('%s is there, and let through by .dockerignore', (source) => {
    expect(existsSync(join(ROOT, source))).toBe(true)
    expect(letIn).toContain(source)
  })

  test('nothing else is let through', () => {
    expect(ignore).toContain('*')
    expect(letIn.toSorted()).toEqual(sources.toSorted())
  })

  test('from other stages is from ones that there are', () => {
    const names = stages.slice(0, -1).map(({ name }) => name)
    for (const { from } of stages.flatMap(copiesOf)) if (from) expect(names).toContain(from)
  })

  test('into the image is all that the package ships and a server reads', () => {
    const into = copiesOf(final).flatMap(({ sources: paths, from }) =>
      paths.map((path) => (from ? path.replace('/src/', '') : path)),
    )
    const forClients = ['hack/gen-clusterconfigs.sh']
    for (const file of manifest.files) if (!forClients.includes(file)) expect(into).toContain(file)
  })
})

test('every stage is of the Node.js that the code is tested on', () => {
  const major = manifest.dependencies.node.split('.')[0]
  for (const { base } of stages) expect(base).toBe(`node:${major}-slim`)
})

test('it runs what package.json names as the command', () => {
  expect(JSON.parse(textOf(final, 'ENTRYPOINT')!)).toEqual([
    'node',
    `${textOf(final, 'WORKDIR')}/${manifest.bin.fleetglass}`,
  ])
})

test('it is checked with a file that is in it', () => {
  const command = JSON.parse(/CMD (\[.*\])$/.exec(textOf(final, 'HEALTHCHECK')!)![1]!)
  expect(command).toEqual(['node', `${textOf(final, 'WORKDIR')}/hack/healthcheck.mjs`])
  expect(copiesOf(final).flatMap(({ sources }) => sources)).toContain('hack/healthcheck.mjs')
})

test('it runs as nobody, by number, so that Kubernetes can tell', () => {
  expect(textOf(final, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  const after = final.instructions.slice(
    final.instructions.findIndex(({ name }) => name === 'USER'),
  )
  expect(after.filter(({ name }) => ['RUN', 'COPY', 'ADD'].includes(name))).toEqual([])
})

test.runIf(hasKubectl)('pods run it as the same user', () => {
  const [uid] = textOf(final, 'USER')!.split(':')
  for (const overlay of OVERLAYS) {
    for (const workload of ofKind(renderOverlay(overlay), 'Deployment', 'Job', 'CronJob')) {
      expect(podTemplateOf(workload).spec.securityContext.runAsUser).toBe(Number(uid))
    }
  }
})

test('only production packages are in it, without programs of the embedded PostgreSQL', () => {
  const dependencies = stages.find(({ name }) => name === 'dependencies')!
  const run = textOf(dependencies, 'RUN')
  expect(run).toMatch(/^npm ci --omit=dev --omit=optional --ignore-scripts/)
})
