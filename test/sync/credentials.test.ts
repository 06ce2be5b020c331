/** How a registration, or a kubeconfig of our own, says how to reach a cluster, and what it may not say. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { createDemoPki, type DemoPki } from '../../src/demo/pki.ts'
import { accessFromSpec, credentialsFromKubeconfig } from '../../src/sync/credentials.ts'
import { createExecPlugin } from '../../src/sync/exec-plugin.ts'
import { readKubeconfig } from '../../src/sync/kubeconfig.ts'
import { InvalidConfig } from '../../src/sync/member-access.ts'
import { MemberClient } from '../../src/sync/member-client.ts'
import { MemberError } from '../../src/sync/member-error.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'

let pki: DemoPki
let expired: DemoPki
let folder: string

beforeAll(async () => {
  const now = Date.now()
  pki = await createDemoPki({ name: 'dot-01', clientName: 'reader', now })
  expired = await createDemoPki({ name: 'dot-01', clientName: 'r', now: now - 400 * 86_400_000 })
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-credentials-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

const base64 = (text: string) => Buffer.from(text).toString('base64')

function kubeconfig(user: object, cluster: object = {}) {
  return stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  })
}

describe('a registration that cannot be used names the field', () => {
  const cases: ReadonlyArray<{ name: string; spec: () => object; want: RegExp }> = [
    { name: 'nothing', spec: () => ({}), want: /one of spec.kubeconfig and spec.apiserver/ },
    {
      name: 'no URL',
      spec: () => ({ apiserver: 'https://' }),
      want: /^spec.apiserver is not a URL/,
    },
    {
      name: 'another protocol',
      spec: () => ({ apiserver: 'ftp://h' }),
      want: /^spec.apiserver must start with https?/,
    },
    {
      name: 'a query',
      spec: () => ({ apiserver: 'https://h?a=b' }),
      want: /^spec.apiserver must be a plain URL/,
    },
    {
      name: 'an API server with a password and no user',
      spec: () => ({ apiserver: 'https://:secret@h' }),
      want: /^spec.apiserver must be a plain URL/,
    },
    {
      name: 'a CA that is none',
      spec: () => ({ apiserver: 'https://h', caData: base64('x') }),
      want: /^spec.caData holds no PEM/,
    },
    {
      name: 'a CA that is broken',
      spec: () => ({
        apiserver: 'https://h',
        caData: base64('-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----'),
      }),
      want: /^spec.caData holds a certificate that cannot be read/,
    },
    {
      name: 'not base64',
      spec: () => ({ apiserver: 'https://h', tokenData: '%' }),
      want: /^spec.tokenData is not base64/,
    },
    {
      name: 'a token of two lines',
      spec: () => ({ apiserver: 'https://h', tokenData: base64('a\nb') }),
      want: /^spec.tokenData holds characters/,
    },
    {
      name: 'a certificate alone',
      spec: () => ({ apiserver: 'https://h', certData: base64(pki.client.cert) }),
      want: /^spec.keyData is required with spec.certData/,
    },
    {
      name: 'a key alone',
      spec: () => ({ apiserver: 'https://h', keyData: base64(pki.client.key) }),
      want: /^spec.certData is required/,
    },
    {
      name: 'a key of another certificate',
      spec: () => ({
        apiserver: 'https://h',
        certData: base64(pki.client.cert),
        keyData: base64(expired.client.key),
      }),
      want: /^spec.keyData is not the key of spec.certData/,
    },
    {
      name: 'no kubeconfig',
      spec: () => ({ kubeconfig: base64('- a') }),
      want: /^spec.kubeconfig is not a kubeconfig/,
    },
    {
      name: 'no YAML',
      spec: () => ({ kubeconfig: base64('a: [') }),
      want: /^spec.kubeconfig is not YAML$/,
    },
    {
      name: 'no context',
      spec: () => ({ kubeconfig: base64('a: b') }),
      want: /^spec.kubeconfig: current-context is not set/,
    },
    {
      name: 'a context that is not there',
      spec: () => ({ kubeconfig: base64('current-context: x\ncontexts: []') }),
      want: /^spec.kubeconfig: contexts\[x\] does not exist/,
    },
    {
      name: 'a program',
      spec: () => ({ kubeconfig: base64(kubeconfig({ exec: { command: 'id' } })) }),
      want: /^spec.kubeconfig: users\[u\].user.exec is not allowed/,
    },
    {
      name: 'a token file',
      spec: () => ({ kubeconfig: base64(kubeconfig({ tokenFile: '/etc/passwd' })) }),
      want: /user.tokenFile is not allowed/,
    },
    {
      name: 'a certificate file',
      spec: () => ({ kubeconfig: base64(kubeconfig({ 'client-certificate': '/a' })) }),
      want: /user.client-certificate is not allowed/,
    },
    {
      name: 'a key file',
      spec: () => ({ kubeconfig: base64(kubeconfig({ 'client-key': '/a' })) }),
      want: /user.client-key is not allowed/,
    },
    {
      name: 'a CA file',
      spec: () => ({ kubeconfig: base64(kubeconfig({}, { 'certificate-authority': '/a' })) }),
      want: /clusters\[k\].cluster.certificate-authority is not allowed/,
    },
    {
      name: 'an auth provider',
      spec: () => ({ kubeconfig: base64(kubeconfig({ 'auth-provider': { name: 'gcp' } })) }),
      want: /user.auth-provider is not allowed/,
    },
    {
      name: 'a CA that would not be looked at',
      spec: () => ({
        kubeconfig: base64(
          kubeconfig(
            {},
            {
              'insecure-skip-tls-verify': true,
              'certificate-authority-data': base64(pki.ca),
            },
          ),
        ),
      }),
      want: /certificate-authority-data has no effect with leaving out verification/,
    },
    {
      name: 'a proxy that is no URL',
      spec: () => ({ kubeconfig: base64(kubeconfig({}, { 'proxy-url': 'x y' })) }),
      want: /cluster.proxy-url is not a URL/,
    },
  ]
  for (const { name, spec, want } of cases) {
    test(name, () => {
      const call = () => accessFromSpec(spec())
      expect(call).toThrow(InvalidConfig)
      expect(call).toThrow(want)
    })
  }
})

describe('over the wire', () => {
  let member: MemberCluster
  const read = async (access: ReturnType<typeof accessFromSpec>) => {
    const client = new MemberClient(access, { userAgent: 'fleetglass/test' })
    try {
      return await client.readJson({ path: '/api/v1/namespaces', asked: 'list namespaces' })
    } finally {
      await client.close()
    }
  }

  beforeAll(async () => {
    member = await startMemberCluster({
      tls: { ...pki.server, clientCa: pki.ca },
      tokens: { right: 'reader' },
      basePath: '/k8s/clusters/c-1',
    })
  })

  afterAll(async () => await member.stop())

  const good: ReadonlyArray<{ name: string; spec: () => object }> = [
    { name: 'a token', spec: () => ({ tokenData: base64('right\n') }) },
    {
      name: 'a client certificate',
      spec: () => ({ certData: base64(pki.client.cert), keyData: base64(pki.client.key) }),
    },
  ]
  for (const { name, spec } of good) {
    test(`${name}, and a path in the URL`, async () => {
      const access = accessFromSpec({
        apiserver: `${member.url}/`,
        caData: base64(pki.ca),
        ...spec(),
      })
      expect(await read(access)).toMatchObject({ kind: 'NamespaceList' })
      expect(member.requests({}).at(-1)?.headers['user-agent']).toBe('fleetglass/test')
    })
  }

  test('a kubeconfig', async () => {
    const text = kubeconfig(
      { token: 'right' },
      { server: member.url, 'certificate-authority-data': base64(pki.ca) },
    )
    const access = accessFromSpec({ kubeconfig: base64(text) })
    expect(await read(access)).toMatchObject({ kind: 'NamespaceList' })
  })

  test('a kubeconfig that wants no verification, and an annotation that does', async () => {
    const text = kubeconfig(
      { token: 'right' },
      { server: member.url, 'insecure-skip-tls-verify': true },
    )
    const spec = { apiserver: member.url, tokenData: base64('right') }
    for (const access of [
      accessFromSpec({ kubeconfig: base64(text) }),
      accessFromSpec(spec, { insecure: true }),
    ]) {
      expect(await read(access)).toMatchObject({ kind: 'NamespaceList' })
    }
    const withCa = { ...spec, caData: base64(pki.ca) }
    expect(() => accessFromSpec(withCa, { insecure: true })).toThrow(
      /^spec.caData has no effect with the annotation fleetglass.io\/insecure-skip-tls-verify/,
    )
  })

  test('no token is sent to a server that cannot be verified', async () => {
    const before = member.requests({}).length
    const spec = { apiserver: member.url, tokenData: base64('right') }
    await expect(read(accessFromSpec(spec))).rejects.toThrow(/unknown authority/)
    expect(member.requests({})).toHaveLength(before)
  })

  for (const variable of ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS']) {
    test(`no CA, where the machine knows it (${variable})`, async () => {
      const file = join(folder, 'system.pem')
      writeFileSync(file, pki.ca)
      const from = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src', path))
      const script = `
        import { MemberClient } from ${from('sync/member-client.ts')}
        import { accessFromSpec } from ${from('sync/credentials.ts')}
        const spec = { apiserver: '${member.url}', tokenData: '${base64('right')}' }
        const client = new MemberClient(accessFromSpec(spec), { userAgent: 'fleetglass/test' })
        const { kind } = await client.readJson({ path: '/api/v1/namespaces', asked: 'list' })
        console.log(kind)
        await client.close()`
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '--eval', script],
        { env: { ...process.env, [variable]: file } },
      )
      expect(stdout).toBe('NamespaceList\n')
    })
  }

  test('a proxy is used, for TLS too', async () => {
    const proxy = createServer()
    const targets: string[] = []
    proxy.on('connect', (request, socket) => {
      targets.push(request.url ?? '')
      const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo
    const text = kubeconfig(
      { token: 'right' },
      {
        server: member.url,
        'certificate-authority-data': base64(pki.ca),
        'proxy-url': `http://127.0.0.1:${port}`,
      },
    )
    expect(await read(accessFromSpec({ kubeconfig: base64(text) }))).toMatchObject({
      kind: 'NamespaceList',
    })
    expect(targets).toEqual([new URL(member.url).host])
    proxy.closeAllConnections()
    proxy.close()
  })

  test('a TLS server name, where the address is another', async () => {
    const cluster = { server: member.url, 'certificate-authority-data': base64(pki.ca) }
    const named = (name: string) =>
      accessFromSpec({
        kubeconfig: base64(kubeconfig({ token: 'right' }, { ...cluster, 'tls-server-name': name })),
      })
    expect(await read(named('localhost'))).toMatchObject({ kind: 'NamespaceList' })
    await expect(read(named('elsewhere'))).rejects.toThrow(/for another name/)
  })

  const refused: ReadonlyArray<{ name: string; spec: () => object; failure: string; why: RegExp }> =
    [
      {
        name: 'a wrong token',
        spec: () => ({ caData: base64(pki.ca), tokenData: base64('no') }),
        failure: 'unauthorized',
        why: /^Unauthorized$/,
      },
      {
        name: 'another CA',
        spec: () => ({ caData: base64(expired.ca) }),
        failure: 'certificate',
        why: /unknown authority/,
      },
      {
        name: 'no CA, where the machine does not know it',
        spec: () => ({ tokenData: base64('right') }),
        failure: 'certificate',
        why: /unknown authority: put the CA .* in caData .*insecure-skip-tls-verify=true/,
      },
      {
        name: 'a port where nobody listens',
        spec: () => ({ apiserver: 'https://127.0.0.1:1' }),
        failure: 'unreachable',
        why: /^connection refused$/,
      },
      {
        name: 'a host that does not exist',
        spec: () => ({ apiserver: 'https://nowhere.invalid' }),
        failure: 'unreachable',
        why: /host/,
      },
    ]
  for (const { name, spec, failure, why } of refused) {
    test(`${name} is refused in words`, async () => {
      const error = await read(accessFromSpec({ apiserver: member.url, ...spec() })).catch(
        (one) => one,
      )
      expect(error).toBeInstanceOf(MemberError)
      expect((error as MemberError).failure).toBe(failure)
      expect((error as MemberError).message).toMatch(why)
    })
  }

  describe('of our own command line', () => {
    const trusted = (user: object) =>
      credentialsFromKubeconfig(
        kubeconfig(user, { server: member.url, 'certificate-authority': 'ca.pem' }),
        { field: 'file', trusted: true, baseDir: folder },
      )
    /** A program that prints an ExecCredential, and notes each run with what it was told. */
    const plugin = (status: string, sleepSeconds = 0) => {
      const path = join(folder, `plugin-${Math.random()}.sh`)
      const text = `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >> "${path}.runs"
sleep ${sleepSeconds}
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":${status}}'
`
      writeFileSync(path, text)
      chmodSync(path, 0o755)
      const runs = () => readFileSync(`${path}.runs`, 'utf8').trim().split('\n')
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: path,
        provideClusterInfo: true,
      }
      return {
        exec,
        runs,
        rewrite: (next: string) => writeFileSync(path, text.replace(status, next)),
      }
    }

    beforeAll(() => writeFileSync(join(folder, 'ca.pem'), pki.ca))

    test('certificate files, relative to the kubeconfig', async () => {
      writeFileSync(join(folder, 'c.pem'), pki.client.cert)
      writeFileSync(join(folder, 'k.pem'), pki.client.key)
      const access = trusted({ 'client-certificate': 'c.pem', 'client-key': 'k.pem' })
      expect(await read(access)).toMatchObject({ kind: 'NamespaceList' })
    })

    test('a token file that was rotated is read again after a 401', async () => {
      writeFileSync(join(folder, 'token'), 'old')
      const access = trusted({ tokenFile: 'token' })
      await expect(read(access)).rejects.toThrow(/^Unauthorized$/)
      writeFileSync(join(folder, 'token'), 'right\n')
      expect(await read(access)).toMatchObject({ kind: 'NamespaceList' })
    })

    test('a program runs once for many requests, and is told the cluster', async () => {
      const { exec, runs } = plugin('{"token":"right"}', 0.2)
      const access = trusted({ exec })
      const client = new MemberClient(access, { userAgent: 'fleetglass/test' })
      const request = { path: '/api/v1/namespaces', asked: 'list namespaces' }
      await Promise.all(Array.from({ length: 5 }, () => client.readJson(request)))
      await client.close()
      expect(runs()).toHaveLength(1)
      expect(JSON.parse(runs()[0]!)).toMatchObject({
        kind: 'ExecCredential',
        spec: { interactive: false, cluster: { server: member.url } },
      })
    })

    test('a program does not get our own settings, which hold a password', async () => {
      vi.stubEnv('FLEETGLASS_DATABASE_URL', 'postgres://someone:secret@example.com/x')
      vi.stubEnv('OF_THE_PLUGIN', 'inherited')
      const { exec } = plugin('{"token":"right"}')
      const seen = join(folder, 'environment')
      const shell = { ...exec, command: 'sh', args: ['-c', `env > ${seen}; ${exec.command}`] }
      await read(trusted({ exec: shell }))
      vi.unstubAllEnvs()
      const environment = readFileSync(seen, 'utf8')
      expect(environment).toContain('OF_THE_PLUGIN=inherited')
      expect(environment).not.toContain('FLEETGLASS_')
    })

    test('a program runs again when its credential has expired, and after a 401', async () => {
      const past = plugin('{"token":"right","expirationTimestamp":"2020-01-01T00:00:00Z"}')
      const access = trusted({ exec: past.exec })
      await read(access)
      await read(access)
      expect(past.runs()).toHaveLength(2)
      const wrong = plugin('{"token":"wrong"}')
      await expect(read(trusted({ exec: wrong.exec }))).rejects.toThrow(/^Unauthorized$/)
      expect(wrong.runs()).toHaveLength(2)
    })

    test('a program that hangs is ended, and holds nobody up', async () => {
      const { exec } = plugin('{"token":"right"}', 60)
      const text = kubeconfig({ exec }, { server: member.url })
      const target = accessFromSpec({ apiserver: member.url, caData: base64(pki.ca) })
      const { authorize } = createExecPlugin(target, readKubeconfig(text, { field: 'file' }), {
        baseDir: folder,
        timeoutMilliseconds: 300,
      })
      const hanging = authorize()
      const refused = expect(hanging).rejects.toThrow(/plugin .* did not end within 0.3 s$/)
      // Another is served meanwhile.
      const token = { token: 'right' }
      expect(await read(trusted(token))).toMatchObject({ kind: 'NamespaceList' })
      await refused
    })

    test('a program that prints a client certificate', async () => {
      const status = JSON.stringify({
        clientCertificateData: pki.client.cert.replaceAll('\r', ''),
        clientKeyData: pki.client.key.replaceAll('\r', ''),
      })
      const { exec } = plugin(status.replaceAll('\\n', '\\\\n'))
      expect(await read(trusted({ exec }))).toMatchObject({ kind: 'NamespaceList' })
    })

    const broken: ReadonlyArray<{ name: string; exec: () => object; why: RegExp }> = [
      {
        name: 'fails',
        exec: () => ({ ...plugin('{}').exec, command: '/bin/false' }),
        why: /plugin \/bin\/false failed/,
      },
      {
        name: 'does not exist',
        exec: () => ({ ...plugin('{}').exec, command: 'no-such-plugin' }),
        why: /no-such-plugin failed/,
      },
      {
        name: 'prints rubbish',
        exec: () => ({ ...plugin('{}').exec, command: '/bin/echo' }),
        why: /printed no JSON/,
      },
      {
        name: 'prints no credential',
        exec: () => plugin('{}').exec,
        why: /neither token nor certificate/,
      },
    ]
    for (const { name, exec, why } of broken) {
      test(`a program that ${name}`, async () => {
        await expect(read(trusted({ exec: exec() }))).rejects.toThrow(why)
      })
    }
  })
})
