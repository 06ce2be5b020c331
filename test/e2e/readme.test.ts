/** Every command that README.md shows with its output, run against the demo and compared. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyKubectl, KubectlRunner } from '../support/kubectl.ts'
import { RunningFleetglass } from '../support/running-fleetglass.ts'

const KUBECTL = anyKubectl()
const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')

interface Example {
  readonly command: string
  readonly shown: string
}

/** `$ command` and the lines below it, up to the next command. */
const examples: readonly Example[] = [...README.matchAll(/^```console\n(.*?)^```$/gms)]
  .flatMap(([, block]) => block!.trim().split(/\n\n(?=\$ )/))
  .map((text) => {
    const [line = '', ...shown] = text.split('\n')
    return { command: line.replace(/^\$ /, ''), shown: shown.join('\n') }
  })

/** The table of what can be asked: of each condition the first label and the first query. */
const conditions = (/^\| Condition \|.*?\n\n/ms.exec(README)?.[0] ?? '')
  .split('\n')
  .slice(2)
  .filter((row) => row !== '')
  .map((row) => {
    const [, what = '', ...forms] = row.split('|').map((cell) => cell.trim())
    const [label, query] = forms.map((form) => /`([^`]+)`/.exec(form)?.[1])
    return { what, label, query }
  })

/**
 * Ages, ports and the random parts of names are another each time; widths follow from them. npm adds
 * a word about itself when it likes.
 */
function masked(text: string): string {
  return text
    .replaceAll(/^npm notice.*\n?/gm, '')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/-[a-z0-9]{10}-[a-z0-9]{5}\b/g, '-HASH')
    .replaceAll(/\b(?:\d+[smhdy]){1,2}\b/g, 'AGE')
    .replaceAll(/ {2,}/g, '  ')
    .replaceAll(/ +$/gm, '')
    .trimEnd()
}

/** The demo has no answer to some of the conditions, and then hears what was looked for. */
function besidesHints(stderr: string): string {
  return stderr.replaceAll(/^(?:No resources found|Warning: (?:the owner|no field) .*)\n/gm, '')
}

describe.skipIf(!KUBECTL)('README.md, against the demo', () => {
  let folder: string
  let demo: RunningFleetglass
  let runner: KubectlRunner

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fleetglass-readme-'))
    // So that the database's user can reach it, and its files go with it.
    chmodSync(folder, 0o711)
    demo = new RunningFleetglass(['demo', '--data-dir', folder, '--listen', '127.0.0.1:0'])
    await demo.says('Ctrl-C stops everything.')
    runner = new KubectlRunner(KUBECTL!, join(folder, 'kubeconfig'))
  })

  afterAll(async () => {
    await demo.kill('SIGTERM')
    rmSync(folder, { recursive: true })
  })

  test('shows enough to be worth a test', () => {
    expect(examples.length).toBeGreaterThan(8)
  })

  const unshown = README.match(/^kubectl get --raw .*$/gm) ?? []

  test('has commands whose output it does not show', () => {
    expect(unshown).not.toEqual([])
  })

  test.each(unshown)('%s', async (command) => {
    const { exitCode, stdout, stderr } = await runner.paste(command)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(stdout).items.length).toBeGreaterThan(5)
  })

  test('says what can be asked', () => {
    expect(conditions.length).toBeGreaterThan(15)
  })

  describe.each(conditions)('can be asked for $what', ({ label, query }) => {
    test.skipIf(label === undefined)('by label', async () => {
      const command = `kubectl --cluster clusterpedia get deployments,replicasets,pods -A -o name -l "${label}"`
      const { exitCode, stderr } = await runner.paste(command)
      expect({ exitCode, stderr: besidesHints(stderr) }).toEqual({ exitCode: 0, stderr: '' })
    })

    test.skipIf(query === undefined)('by query', async () => {
      const path = `/apis/clusterpedia.io/v1beta1/resources/apis/apps/v1/deployments?${encodeURI(query!)}`
      const { exitCode, stdout, stderr } = await runner.paste(`kubectl get --raw '${path}'`)
      expect({ exitCode, stderr: besidesHints(stderr) }).toEqual({ exitCode: 0, stderr: '' })
      expect(JSON.parse(stdout).items).toBeInstanceOf(Array)
    })
  })

  test.each([
    { command: 'logs deployment/silly-demo', reason: 'NotFound' },
    { command: 'exec deployment/silly-demo -- ls', reason: 'MethodNotAllowed' },
    { command: 'delete deployment/silly-demo', reason: 'MethodNotAllowed' },
  ])('$command is refused as the limits say', async ({ command, reason }) => {
    const { exitCode, stderr } = await runner.paste(`kubectl --cluster dot-01 -n a-team ${command}`)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`Error from server (${reason})`)
  })

  test.each(examples)('$command', async ({ command, shown }) => {
    const { stdout, stderr } = await runner.paste(command)
    expect(masked(stdout + stderr)).toBe(masked(shown))
  })
})
