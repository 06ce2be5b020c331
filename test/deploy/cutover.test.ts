/** The commands of README.md that point Clusterpedia's API at fleetglass, and back, as written there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keepCertificates } from '../../src/cli/certificates/keep-certificates.ts'
import { anyKubectl, KubectlRunner } from '../support/kubectl.ts'
import {
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { REPOSITORY } from '../support/manifests.ts'

const APIS = '/apis/apiregistration.k8s.io/v1/apiservices'
const NAME = 'v1beta1.clusterpedia.io'
/** As Clusterpedia 0.9 installs it. */
const CLUSTERPEDIA = {
  ...{ group: 'clusterpedia.io', version: 'v1beta1', insecureSkipTLSVerify: true },
  ...{ groupPriorityMinimum: 1000, versionPriority: 100 },
  service: { name: 'clusterpedia-apiserver', namespace: 'clusterpedia-system' },
}

const kubectl = anyKubectl()
if (!kubectl) test.skip('there is no kubectl', () => undefined)

describe.skipIf(!kubectl)('commands of README.md', () => {
  let cluster: ManagementCluster
  let runner: KubectlRunner

  beforeAll(async () => {
    cluster = await startManagementCluster()
    runner = new KubectlRunner(kubectl!, cluster.kubeconfig)
    const metadata = { name: NAME }
    const object = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata }
    await cluster.admin.request('POST', APIS, { body: { ...object, spec: CLUSTERPEDIA } })
    await keepCertificates({ client: cluster.admin, names: [], now: Date.now() })
  })
  afterAll(() => cluster.stop())

  test('point the API at fleetglass, verified, and back as it was', async () => {
    const { before, forth, back } = commands()
    const ca = await servedCa()
    expect(await paste([before, ...forth].join('\n'))).toMatchObject({ exitCode: 0 })
    expect(await spec()).toMatchObject({
      service: { name: 'fleetglass-apiserver', namespace: NAMESPACE, port: 443 },
      insecureSkipTLSVerify: false,
      caBundle: ca,
    })
    // Nothing is left for the job to do.
    expect(await keepCertificates({ client: cluster.admin, names: [], now: Date.now() })).toEqual(
      [],
    )
    expect(await paste(back)).toMatchObject({ exitCode: 0 })
    const { service, ...rest } = await spec()
    expect(service).toMatchObject(CLUSTERPEDIA.service)
    expect(rest).toEqual({ ...CLUSTERPEDIA, service: undefined })
  })

  function paste(commands: string) {
    return runner.paste(`cd "$HOME" && set -e\n${commands}`)
  }

  // biome-ignore lint/suspicious/noExplicitAny: an object of a built-in kind
  async function get(path: string): Promise<any> {
    return (await cluster.admin.request('GET', path)).body
  }

  async function spec() {
    return (await get(`${APIS}/${NAME}`)).spec
  }

  async function servedCa(): Promise<string> {
    const secret = await get(`/api/v1/namespaces/${NAMESPACE}/secrets/fleetglass-serving-cert`)
    return secret.data['ca.crt']
  }
})

function commands() {
  const readme = readFileSync(join(REPOSITORY, 'README.md'), 'utf8')
  const from = readme.indexOf('### Beside Clusterpedia')
  const section = readme.slice(from, readme.indexOf('\n### ', from + 1))
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) =>
    text!.replaceAll(/^ {3}/gm, '').trim(),
  )
  const [before = '', ...forth] = blocks[1]!.split('\n')
  return { before, forth, back: blocks[2]! }
}
