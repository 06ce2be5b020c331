import { spawn } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { createFile } from '../../src/cli/data-dir/create-file.ts'
import { prepareDataDir } from '../../src/cli/data-dir/data-dir.ts'
import { readEncryptionKey } from '../../src/cli/data-dir/encryption-key.ts'
import { writeKubeconfig } from '../../src/cli/data-dir/kubeconfig.ts'
import { lockDirectory } from '../../src/cli/data-dir/lock.ts'
import { ensurePki } from '../../src/cli/data-dir/pki.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'

const DAY = 24 * 3600 * 1000
let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'fleetglass-test-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

describe('making a data directory', () => {
  test('with its parents, and again', () => {
    const path = join(dataDir, 'a/b')
    expect(prepareDataDir(path)).toBe(path)
    expect(prepareDataDir(path)).toBe(path)
  })

  test.skipIf(process.platform !== 'linux')('where nothing can be made it says so', () => {
    expect(() => prepareDataDir('/proc/fleetglass/data')).toThrow(
      'cannot make the data directory /proc/fleetglass/data: no such file or directory',
    )
  })

  test.each(['file', 'file/below'])('not of a file: %s', (name) => {
    writeFileSync(join(dataDir, 'file'), '')
    expect(() => prepareDataDir(join(dataDir, name))).toThrow(/it is a file|not a directory/)
  })
})

describe('the lock of a data directory', () => {
  test('a second taker is refused, and gets it after the release', () => {
    const first = lockDirectory(dataDir)
    expect(() => lockDirectory(dataDir)).toThrow(`${dataDir} is in use by a fleetglass`)
    first.release()
    lockDirectory(dataDir).release()
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
  })

  test('a folder that is in its way is named', () => {
    mkdirSync(join(dataDir, 'lock'))
    expect(() => lockDirectory(dataDir)).toThrow(
      /cannot make the file lock in .*: illegal operation/,
    )
  })

  test('a process that was killed no longer has it', async () => {
    const script = `import { lockDirectory } from ${JSON.stringify(sourceOf('lock.ts'))}
      lockDirectory(process.argv[1]); console.log('locked'); setInterval(() => {}, 1000)`
    const args = ['--input-type=module', '-e', script, dataDir]
    const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    expect(() => lockDirectory(dataDir)).toThrow(`(process ${holder.pid})`)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    lockDirectory(dataDir).release()
  })

  test('a process that has the same number as a dead holder does not count as it', () => {
    writeFileSync(join(dataDir, 'lock'), `${process.pid} started-at-another-time\n`)
    lockDirectory(dataDir).release()
  })

  test('of many that take over from a dead one at once, one gets it', async () => {
    writeFileSync(join(dataDir, 'lock'), `${process.pid} started-at-another-time\n`)
    const script = `import { lockDirectory } from ${JSON.stringify(sourceOf('lock.ts'))}
      try { lockDirectory(process.argv[1]); console.log('got it') }
      catch (error) { console.log(error.message) }
      setInterval(() => {}, 1000)`
    const args = ['--input-type=module', '-e', script, dataDir]
    const children = Array.from({ length: 6 }, () =>
      spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    // Each lives until all have tried.
    onTestFinished(() => {
      for (const child of children) child.kill('SIGKILL')
    })
    const answers = await Promise.all(children.map(({ stdout }) => once(stdout, 'data')))
    expect(answers.filter(([said]) => String(said).startsWith('got it'))).toHaveLength(1)
  })
})

describe('the encryption key file', () => {
  test('is made once, for our eyes only, and stays', () => {
    const path = join(dataDir, 'encryption-key')
    const made = readEncryptionKey(path, 'create')
    expect(made).toHaveLength(32)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readEncryptionKey(path, 'create')).toEqual(made)
  })

  test('a text that cannot be made leaves no file, for the next start to make it', () => {
    const path = join(dataDir, 'encryption-key')
    const make = (text: () => string) => () => createFile(path, text)
    const full = make(() => {
      throw new Error('disk full')
    })
    expect(full).toThrow('disk full')
    expect(readdirSync(dataDir)).toEqual([])
    make(() => 'whole')()
    make(() => 'another')()
    expect(readFileSync(path, 'utf8')).toBe('whole')
  })

  test.each([
    { name: 'one that the user named and is missing', text: undefined, want: 'no such file' },
    { name: 'one that is too short', text: 'c2hvcnQ=', want: 'must hold 32 bytes in base64' },
    { name: 'an empty one', text: '', want: 'must hold 32 bytes in base64' },
  ])('$name is refused', ({ text, want }) => {
    const path = join(dataDir, 'key')
    if (text !== undefined) writeFileSync(path, text)
    expect(() => readEncryptionKey(path, 'fail')).toThrow(want)
  })
})

describe('the certificates', () => {
  const names = ['fleet.example', '10.1.2.3', 'fe80::1', '0.0.0.0']

  test('the server’s is for localhost and the names given, from our CA, with SHA-256', async () => {
    const pki = await ensurePki({ dataDir, names, now: Date.now() })
    const server = new X509Certificate(pki.server.cert)
    const ca = new X509Certificate(pki.caCert)
    expect(server.verify(ca.publicKey)).toBe(true)
    expect(server.subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:fleet.example, ' +
        'IP Address:10.1.2.3, IP Address:FE80:0:0:0:0:0:0:1',
    )
    expect(signatureAlgorithmOf(pki.server.cert)).toBe('ecdsa-with-SHA256')
    expect(ca.ca).toBe(true)
  })

  test('a client with the administrator’s is known by name and group', async () => {
    const pki = await ensurePki({ dataDir, names: [], now: Date.now() })
    expect(await askOverTls(pki)).toEqual({ CN: 'fleetglass-admin', O: 'system:masters' })
  })

  test('they stay while they are good', async () => {
    const now = Date.now()
    const before = await ensurePki({ dataDir, names, now })
    expect(await ensurePki({ dataDir, names, now: now + 59 * DAY })).toEqual(before)
  })

  const renewals = [
    { name: 'the server’s, close to its end', days: 61, with: names, admin: 'same', ca: 'same' },
    { name: 'the server’s, for another name', days: 0, with: ['b'], admin: 'same', ca: 'same' },
    { name: 'the administrator’s too', days: 280, with: names, admin: 'new', ca: 'same' },
    { name: 'all of them with the CA', days: 3600, with: names, admin: 'new', ca: 'new' },
  ]
  test.each(renewals)('are renewed: $name', async ({ days, with: other, admin, ca }) => {
    const now = Date.now()
    const before = await ensurePki({ dataDir, names, now })
    const after = await ensurePki({ dataDir, names: other, now: now + days * DAY })
    expect(after.server.cert).not.toBe(before.server.cert)
    expect(after.admin.cert === before.admin.cert ? 'same' : 'new').toBe(admin)
    expect(after.caCert === before.caCert ? 'same' : 'new').toBe(ca)
    const { validTo } = new X509Certificate(after.server.cert)
    expect(Date.parse(validTo)).toBeGreaterThan(now + (days + 80) * DAY)
  })

  const damages: ReadonlyArray<readonly [what: string, damage: (file: string) => void]> = [
    ['nothing', (file) => rmSync(file)],
    ['an empty file', (file) => writeFileSync(file, '')],
    ['rubbish', (file) => writeFileSync(file, Buffer.from([0, 1, 0xff]))],
    // As a crash between writing the two leaves it.
    ['those of another pair', (file) => copyFileSync(file.replace(/\w+(?=\.\w+$)/, 'other'), file)],
  ]
  describe.each(damages)('%s', (_what, damage) => {
    const damaged = async (file: string) => {
      const before = await ensurePki({ dataDir, names, now: Date.now() })
      for (const end of ['crt', 'key']) {
        const from = file.startsWith('admin') ? 'server' : 'admin'
        copyFileSync(join(dataDir, 'pki', `${from}.${end}`), join(dataDir, 'pki', `other.${end}`))
      }
      damage(join(dataDir, 'pki', file))
      return before
    }
    test.each(['server.crt', 'server.key', 'admin.crt', 'admin.key'])(
      'in place of %s: a new pair is made',
      async (file) => {
        const before = await damaged(file)
        const after = await ensurePki({ dataDir, names, now: Date.now() })
        expect(after.caCert).toBe(before.caCert)
        const { cert, key } = file.startsWith('admin') ? after.admin : after.server
        expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))).toBe(true)
      },
    )
    test.each(['ca.crt', 'ca.key'])('in place of %s: it is said', async (file) => {
      await damaged(file)
      await expect(ensurePki({ dataDir, names, now: Date.now() })).rejects.toThrow(
        /ca\.key are damaged, not both there, or do not belong together: restore them, or remove both/,
      )
    })
  })

  test('a CA that a first start did not finish is made again', async () => {
    await ensurePki({ dataDir, names, now: Date.now() })
    for (const file of ['ca.crt', 'server.crt']) rmSync(join(dataDir, 'pki', file))
    await expect(ensurePki({ dataDir, names, now: Date.now() })).resolves.toBeDefined()
  })

  test('keys are for our eyes only', async () => {
    await ensurePki({ dataDir, names, now: Date.now() })
    for (const file of ['ca.key', 'server.key', 'admin.key']) {
      expect(statSync(join(dataDir, 'pki', file)).mode & 0o777).toBe(0o600)
    }
  })
})

describe('the kubeconfig', () => {
  const at = { server: 'https://127.0.0.1:8443', caCert: 'CA' }
  const write = (more: Partial<Parameters<typeof writeKubeconfig>[0]> = {}) => {
    const path = join(dataDir, 'kubeconfig')
    const credential = { token: 't' }
    writeKubeconfig({ path, at, name: 'fleetglass', credential, clusters: [], ...more })
    return parse(readFileSync(path, 'utf8'))
  }
  const serversOf = (written: { clusters: { name: string; cluster: { server: string } }[] }) =>
    Object.fromEntries(written.clusters.map(({ name, cluster }) => [name, cluster.server]))

  test('has a context for the root and clusters for the fleet and each member', () => {
    const written = write({ clusters: ['dot-01'] })
    expect(written['current-context']).toBe('fleetglass')
    expect(serversOf(written)).toEqual({
      fleetglass: at.server,
      clusterpedia: `${at.server}${FLEET_PREFIX}`,
      'dot-01': `${at.server}${FLEET_PREFIX}/clusters/dot-01`,
    })
    expect(statSync(join(dataDir, 'kubeconfig')).mode & 0o777).toBe(0o600)
  })

  test('what a user added stays, and what points at us follows to another port and CA', () => {
    const first = write({ clusters: ['dot-01'] })
    first.clusters.push({ name: 'mine', cluster: { server: 'https://elsewhere' } })
    first.contexts.push({ name: 'mine', context: { cluster: 'mine', user: 'me' } })
    first['current-context'] = 'mine'
    writeFileSync(join(dataDir, 'kubeconfig'), stringify(first))
    const written = write({ at: { server: 'https://127.0.0.1:9', caCert: 'NEW' } })
    expect(written['current-context']).toBe('mine')
    expect(serversOf(written)).toMatchObject({
      mine: 'https://elsewhere',
      'dot-01': `https://127.0.0.1:9${FLEET_PREFIX}/clusters/dot-01`,
    })
    expect(written.contexts).toHaveLength(2)
  })

  test('says to readers of YAML 1.1 what it says to others', () => {
    write({ clusters: ['no', '12:30'] })
    const text = readFileSync(join(dataDir, 'kubeconfig'), 'utf8')
    expect(parse(text, { version: '1.1' })).toEqual(parse(text))
  })

  test('one that is no YAML is not overwritten', () => {
    writeFileSync(join(dataDir, 'kubeconfig'), 'a: [')
    expect(() => write()).toThrow('cannot read the kubeconfig')
  })
})

function sourceOf(file: string): string {
  return join(import.meta.dirname, '../../src/cli/data-dir', file)
}

/** Node does not tell, so this looks for the object identifier in the certificate. */
function signatureAlgorithmOf(pem: string): string {
  const der = new X509Certificate(pem).raw
  const sha256 = Buffer.from('06082a8648ce3d040302', 'hex')
  return der.includes(sha256) ? 'ecdsa-with-SHA256' : 'another'
}

async function askOverTls(pki: Awaited<ReturnType<typeof ensurePki>>): Promise<unknown> {
  const options = { ...pki.server, ca: pki.caCert, requestCert: true, rejectUnauthorized: true }
  const server = createServer(options, ({ socket }, reply) => {
    const { subject } = (socket as import('node:tls').TLSSocket).getPeerCertificate()
    reply.end(JSON.stringify(subject))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const asked = request({ host: '127.0.0.1', port, ca: pki.caCert, ...pki.admin, agent: false })
    asked.end()
    const [answer] = await once(asked, 'response')
    return JSON.parse((await answer.toArray()).join(''))
  } finally {
    server.close()
  }
}
