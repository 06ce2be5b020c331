import { execFile, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/commands.ts'

const PROGRAM = join(import.meta.dirname, '../../hack/fleetglass.mjs')
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-test-'))
  mkdirSync(join(folder, 'served/demo'), { recursive: true })
  writeFileSync(join(folder, 'served/encryption-key'), '')
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

function fleetglass(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...variables } }
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      resolve({ exitCode: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}

describe('a command line that is at fault ends with exit code 2 and says how', () => {
  const unused = 'postgres://127.0.0.1:1/none'
  const cases: ReadonlyArray<{ name: string; args: readonly string[]; says: readonly string[] }> = [
    { name: 'nothing at all: the help', args: [], says: ['Usage: fleetglass', 'serve'] },
    {
      name: 'a command that is misspelt',
      args: ['sreve'],
      says: ["unknown command 'sreve'", 'Did you mean serve?', "See 'fleetglass --help'."],
    },
    {
      name: 'a flag that is misspelt',
      args: ['serve', '--listn', 'x'],
      says: [
        "unknown option '--listn'",
        'Did you mean --listen?',
        "See 'fleetglass serve --help'.",
      ],
    },
    ...['a b', 'a..b', '-a.example', 'https://a', ''].map((name) => ({
      name: `a certificate for ${JSON.stringify(name)}`,
      args: ['serve', '--tls-san', `ok.example,${name}`],
      says: ['--tls-san must be host names or addresses separated by commas'],
    })),
    {
      name: 'a command below another, without what it needs',
      args: ['token', 'create'],
      says: ["'--name <NAME>' not specified", "See 'fleetglass token create --help'."],
    },
    {
      name: 'help of a command that is not there',
      args: ['help', 'nosuch'],
      says: ["error: unknown command 'nosuch'", "See 'fleetglass"],
    },
    {
      name: 'a flag without its value',
      args: ['serve', '--listen'],
      says: ["'--listen <HOST:PORT>'"],
    },
    { name: 'a word too many', args: ['migrate', 'now'], says: ['too many arguments'] },
    {
      name: 'an address without a port',
      args: ['serve', '--listen', 'localhost'],
      says: ['--listen must be HOST:PORT, such as 127.0.0.1:8443, not "localhost"'],
    },
    {
      name: 'a database of another make',
      args: ['serve', '--database-url', 'mysql://root:hunter2@127.0.0.1/x'],
      says: ['--database-url must be a URL, postgres://USER@HOST:PORT/DATABASE'],
    },
    {
      name: 'a part that has no database',
      args: ['migrate'],
      says: ['--database-url (or FLEETGLASS_DATABASE_URL) is required'],
    },
    {
      name: 'contexts of no kubeconfig',
      args: ['serve', '--context', 'a', '--database-url', unused],
      says: ['--context needs --import-kubeconfig'],
    },
    { name: 'a token without a name', args: ['token', 'create'], says: ["'--name <NAME>'"] },
    {
      name: 'a token that lasts for a colour',
      args: ['token', 'create', '--name', 'a', '--expires', 'red'],
      says: ["'--expires <TIME>' argument 'red' is invalid. It must be a time such as"],
    },
    {
      name: 'a token that lasts for no time',
      args: ['token', 'create', '--name', 'a', '--expires', '0h'],
      says: ["'--expires <TIME>' argument '0h' is invalid. It must be more than nothing"],
    },
    {
      name: 'a token verb that is not there',
      args: ['token', 'mint'],
      says: ["unknown command 'mint'"],
    },
    { name: 'a backup to nowhere', args: ['backup'], says: ["'--out <FILE>'"] },
    {
      name: 'a server certificate without its key',
      args: ['apiserver', '--tls-cert-file', 'tls.crt'],
      says: ['error: --tls-cert-file and --tls-private-key-file need each other'],
    },
    {
      name: 'rights of a management cluster where there is none',
      args: ['apiserver', '--authorization-mode', 'Aggregator'],
      says: ['error: --authorization-mode=Aggregator needs --registrations=management'],
    },
    {
      name: 'an address for readers that is not https',
      args: ['apiserver', '--advertise-direct-url', 'http://fleet.example.com'],
      says: ['--advertise-direct-url must be a URL, https://HOST:PORT'],
    },
  ]
  test.each(cases)('$name', async ({ args, says }) => {
    const { exitCode, stdout, stderr } = await fleetglass(args)
    for (const text of says) expect(stderr).toContain(text)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).not.toMatch(/\n {4}at |hunter2/)
  })
})

describe('what cannot be done ends with exit code 1 and one sentence', () => {
  const cases = [
    {
      name: 'a database that nobody serves',
      args: ['serve', '--database-url', 'postgres://me:hunter2@127.0.0.1:1/fleet'],
      says: 'error: cannot use the database at 127.0.0.1:1/fleet: nothing listens there\n',
    },
    {
      name: 'a data directory that is a file',
      args: ['serve', '--data-dir', PROGRAM],
      says: /^error: cannot make the data directory .*: it is a file\n$/,
    },
    {
      name: 'a data directory below a file',
      args: ['serve', '--data-dir', join(PROGRAM, 'below')],
      says: /^error: cannot make the data directory .*below: not a directory\n$/,
    },
    {
      name: 'a demo in the directory of a serve that has had a demo beside it',
      args: ['demo', '--data-dir', 'served'],
      says: /^error: .*served belongs to a fleetglass that is no demo: give another --data-dir\n$/,
    },
    {
      name: 'a backup that is not there',
      args: ['restore', 'missing.json'],
      says: /^error: nothing was restored from .*missing\.json: no such file or directory\n$/,
    },
    {
      name: 'a kubeconfig that is not there',
      args: ['serve', '--import-kubeconfig', 'missing.yaml'],
      says: /^error: cannot read the kubeconfig .*missing\.yaml: no such file or directory\n$/,
    },
    {
      name: 'a token of a data directory that is none',
      args: ['token', 'list', '--data-dir', 'elsewhere'],
      says: /^error: .*elsewhere is not the data directory of a fleetglass/,
    },
  ]
  test.each(cases)('$name', async ({ args, says }) => {
    const { exitCode, stdout, stderr } = await fleetglass(args, { FLEETGLASS_LOG_LEVEL: 'silent' })
    expect(stderr).toMatch(says)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  })
})

test.each([...COMMANDS])('the command %s is called by its name', async (name, load) => {
  const program = new Command()
  const define = await load()
  define(program, () => undefined)
  expect(program.commands.map((command) => command.name())).toEqual([name])
})

describe('what is asked for is printed on standard output', () => {
  test('the version', async () => {
    const { stdout, exitCode } = await fleetglass(['--version'])
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(exitCode).toBe(0)
  })

  test('the help of a command below another', async () => {
    const { stdout, exitCode } = await fleetglass(['help', 'drift', 'images'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Usage: fleetglass drift images')
  })

  test('help says what a flag must have, which words it takes, and no default that nobody can type', async () => {
    const flat = async (...args: string[]) =>
      (await fleetglass(['help', ...args])).stdout.replaceAll(/\s+/g, ' ')
    expect(await flat('token', 'create')).toContain('and for listing (required) ')
    expect(await flat('syncer')).toContain('(required; FLEETGLASS_DATABASE_URL)')
    const images = await flat('drift', 'images')
    expect(images).toContain('what workloads declare (pods or templates; default: pods)')
    expect(images).not.toMatch(/\[\]|\{\}|"/)
  })

  test.each([
    ['gate', 'Exit code: 0 pass, 1 fail, 2 inconclusive, 4 a wrong command line'],
    ['fleet', 'Exit code: 0 pass, 1 fail, 2 inconclusive, 4 a wrong command line'],
    ['drift versions', 'end with 1 when there is drift, 2 when clusters are unknown'],
  ])('the help of %s says what its exit codes mean', async (command, says) => {
    const { stdout } = await fleetglass(['help', ...command.split(' ')])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(says)
  })

  test('help beside the longest flags is wrapped at 80 columns', async () => {
    const { stdout } = await fleetglass(['apiserver', '--help'])
    const words = (line: string) => line.trim().split(' ').length
    const tooLong = stdout.split('\n').filter((line) => line.length > 80 && words(line) > 1)
    expect(tooLong).toEqual([])
  })

  test('the help of a command, with each default and variable', async () => {
    const { stdout, exitCode } = await fleetglass(['help', 'serve'])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'where the API is served, over TLS (default: 127.0.0.1:8443; FLEETGLASS_LISTEN)',
    )
    expect(exitCode).toBe(0)
  })
})

test.skipIf(!existsSync('/dev/full'))('output that cannot be written is a sentence', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect(stderr).toBe('error: cannot write the output: no space left on device\n')
  expect(status).toBe(1)
})
