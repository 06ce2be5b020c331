/** What deploy/ comes to is what an API server takes, and what fleetglass needs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { fastify } from 'fastify'
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { ReviewMetrics } from '../../src/apiserver/access/delegated/review-metrics.ts'
import { DEFAULT_READER_LIMITS, inFlight } from '../../src/apiserver/plugins/in-flight.ts'
import { RequestMetrics } from '../../src/apiserver/request-metrics.ts'
import { COMMANDS, commandsFor } from '../../src/cli/commands/commands.ts'
import { readConfigFile } from '../../src/cli/config-file.ts'
import { tellWhoLeads } from '../../src/cli/parts/controllers.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { SETTINGS, type SettingName, variableOf } from '../../src/settings.ts'
import { SyncMetrics } from '../../src/sync/metrics.ts'
import { WorkQueues } from '../../src/sync/work-queue.ts'
import { foreignProblems } from '../support/foreign-schema.ts'
import {
  hasKubectl,
  type Manifest,
  OVERLAYS,
  objectsIn,
  ofKind,
  podTemplateOf,
  REPOSITORY,
  renderOverlay,
  titleOf,
} from '../support/manifests.ts'
import { brokenRules } from '../support/pod-security.ts'
import { RecordedSchema } from '../support/recorded-schema.ts'

const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
const NAMESPACE = 'fleetglass-system'
/** Made by whoever installs (README.md), or by cert-manager or our own job. */
const SECRETS = ['fleetglass-database', 'fleetglass-encryption-key', 'fleetglass-serving-cert']
const schema = new RecordedSchema()
const rendered = hasKubectl
  ? OVERLAYS.map((overlay) => [overlay, renderOverlay(overlay)] as const)
  : []
if (!hasKubectl) test.skip('what deploy/ comes to, because there is no kubectl', () => undefined)

describe.each(rendered)('overlay %s', (_, objects) => {
  const templates = objects.flatMap((object) => {
    const template = podTemplateOf(object)
    return template ? [[titleOf(object), template] as const] : []
  })
  const ours = templates.filter(([, { spec }]) => spec.containers[0].image !== 'postgres:17')

  test.each(objects.map((object) => [titleOf(object), object] as const))(
    '%s is what the recorded API server takes, or the operator whose kind it is',
    (_, object) => {
      expect(schema.problems(object) ?? foreignProblems(object)).toEqual([])
    },
  )

  test('no object is there twice', () => {
    const titles = objects.map(titleOf)
    expect(new Set(titles).size).toBe(titles.length)
  })

  test.each(templates)('%s keeps to Pod Security restricted', (_, { spec }) => {
    expect(brokenRules(spec)).toEqual([])
  })

  test.each(ours)('%s is of this release', (_, { spec }) => {
    expect(spec.containers.map(({ image }: Manifest) => image)).toEqual([`fleetglass:${version}`])
  })

  test('Jobs have the release in their names, because they cannot be changed', () => {
    for (const { metadata } of ofKind(objects, 'Job')) {
      expect(metadata.name).toMatch(new RegExp(`-${version.replaceAll('.', '-')}$`))
    }
  })

  test.each(ours)('%s is started with flags that its command has', async (_, { spec }) => {
    for (const { args, env = [] } of spec.containers) {
      const [command, ...flags] = args
      const known = await flagsOf(command)
      for (const flag of flags) expect(known).toContain(flag.split('=')[0])
      const variables = Object.values(SETTINGS).map(variableOf)
      for (const { name } of env) expect(variables).toContain(name)
    }
  })

  test.each(templates)('%s refers to what is there', (_, { spec }) => {
    const accounts = ofKind(objects, 'ServiceAccount').map(({ metadata }) => metadata.name)
    if (spec.serviceAccountName) expect(accounts).toContain(spec.serviceAccountName)
    const maps = ofKind(objects, 'ConfigMap').map(({ metadata }) => metadata.name)
    for (const volume of spec.volumes ?? []) {
      if (volume.configMap) expect(maps).toContain(volume.configMap.name)
      if (volume.secret) expect(SECRETS).toContain(volume.secret.secretName)
    }
    for (const { env = [], volumeMounts = [] } of spec.containers) {
      for (const { valueFrom } of env) {
        if (valueFrom?.secretKeyRef) expect(SECRETS).toContain(valueFrom.secretKeyRef.name)
      }
      for (const { name } of volumeMounts.filter(({ name }: Manifest) => name !== 'data')) {
        expect(spec.volumes.map((volume: Manifest) => volume.name)).toContain(name)
      }
    }
  })

  test('files that settings name are in a volume', () => {
    const settings = settingsIn(objects)
    const files = Object.entries(settings).filter(([flag]) => flag.endsWith('-file'))
    expect(files.length).toBeGreaterThan(0)
    const apiserver = templates.find(([title]) => title.endsWith('fleetglass-apiserver'))![1]
    const folders = apiserver.spec.containers[0].volumeMounts.map(
      ({ mountPath }: Manifest) => `${mountPath}/`,
    )
    for (const [, path] of files) {
      expect(folders.some((folder: string) => String(path).startsWith(folder))).toBe(true)
    }
  })

  test.each(ofKind(objects, 'Service').map((object) => [titleOf(object), object] as const))(
    '%s has pods, with its ports',
    (_, { spec }) => {
      const [template] = templates.filter(([, { metadata }]) =>
        fits(spec.selector, metadata.labels),
      )
      expect(template).toBeDefined()
      const ports = template![1].spec.containers.flatMap((container: Manifest) =>
        (container.ports ?? []).map(({ name }: Manifest) => name),
      )
      for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort)
    },
  )

  test.each(templates)('%s is under a NetworkPolicy for both directions', (_, { metadata }) => {
    const policies = ofKind(objects, 'NetworkPolicy').filter(({ spec }) =>
      fits(spec.podSelector.matchLabels, metadata.labels),
    )
    const types = new Set(policies.flatMap(({ spec }) => spec.policyTypes))
    expect([...types].sort()).toEqual(['Egress', 'Ingress'])
    // One of all pods, which lets nothing in, and one of its own.
    expect(policies.length).toBeGreaterThanOrEqual(2)
  })

  test('monitors find their Services, and verify them by a name of the certificate', () => {
    for (const { spec, metadata } of ofKind(objects, 'ServiceMonitor')) {
      const services = ofKind(objects, 'Service').filter((service) =>
        fits(spec.selector.matchLabels, service.metadata.labels),
      )
      expect(services.map((service) => service.metadata.name)).toEqual([metadata.name])
      const ports = services[0].spec.ports.map(({ name }: Manifest) => name)
      for (const { port, scheme = 'http', tlsConfig } of spec.endpoints) {
        expect(ports).toContain(port)
        const name = `${metadata.name}.${NAMESPACE}.svc`
        expect(tlsConfig?.serverName).toBe(scheme === 'https' ? name : undefined)
      }
    }
  })

  test('certificates are for what the aggregator asks for, by issuers that are there', () => {
    const issuers = ofKind(objects, 'Issuer').map(({ metadata }) => metadata.name)
    const certificates = ofKind(objects, 'Certificate')
    for (const { spec } of certificates) expect(issuers).toContain(spec.issuerRef.name)
    for (const { spec } of certificates.filter(({ spec }) => !spec.isCA)) {
      expect(spec.dnsNames).toContain(`fleetglass-apiserver.${NAMESPACE}.svc`)
    }
    for (const { metadata } of ofKind(objects, 'APIService')) {
      const from = metadata.annotations?.['cert-manager.io/inject-ca-from']
      const known = certificates.map((one) => `${NAMESPACE}/${one.metadata.name}`)
      if (certificates.length > 0) expect(known).toContain(from)
    }
  })

  test('APIServices point at the Service, and verify who answers', () => {
    for (const { spec } of ofKind(objects, 'APIService')) {
      expect(spec.service).toEqual({
        name: 'fleetglass-apiserver',
        namespace: NAMESPACE,
        port: 443,
      })
      expect(spec.insecureSkipTLSVerify).toBe(false)
    }
  })

  test('an API server is given the time to stop that its settings take', () => {
    const settings = settingsIn(objects)
    const apiserver = templates.find(([title]) => title.endsWith('fleetglass-apiserver'))![1]
    const takes = ['delay', 'grace'].map((part) => Number(settings[`shutdown-${part}-seconds`]))
    expect(apiserver.spec.terminationGracePeriodSeconds).toBeGreaterThan(takes[0]! + takes[1]!)
  })

  test('settings are ones that there are', () => {
    const settings = settingsIn(objects)
    const names = Object.keys(SETTINGS) as SettingName[]
    const flags = Object.fromEntries(names.map((name) => [name, settings[SETTINGS[name].flag]]))
    const known = Object.values(SETTINGS).map(({ flag }) => flag)
    for (const flag of Object.keys(settings)) expect(known).toContain(flag)
    expect(() => parseConfig(names, flags, { environment: {} })).not.toThrow()
  })

  test('alerts and the dashboard ask for metrics that there are', async () => {
    const known = await metricNames()
    for (const expression of expressionsIn(objects)) {
      for (const [name] of expression.matchAll(/\b[a-z]+(_[a-z0-9]+)+\b/g)) {
        if (!NO_METRICS.has(name)) expect(known).toContain(name)
      }
    }
  })
})

test.runIf(hasKubectl)('Clusterpedia’s API is left alone until it is pointed at us', () => {
  const apis = (objects: readonly Manifest[]) =>
    ofKind(objects, 'APIService').map(({ metadata }) => metadata.name)
  const [trial, production] = rendered.map(([, objects]) => apis(objects))
  expect(trial).toContain('v1beta1.clusterpedia.io')
  expect(production).toEqual(['v1alpha1.fleet.fleetglass.io'])
})

describe.each(['member', 'rbac'])('deploy/%s', (folder) => {
  const path = join(REPOSITORY, 'deploy', folder)
  const files = readdirSync(path).filter((name) => name.endsWith('.yaml'))

  test.each(files)('%s is what the recorded API server takes', (file) => {
    const objects = objectsIn(readFileSync(join(path, file), 'utf8'))
    expect(objects).not.toEqual([])
    for (const object of objects) expect(schema.problems(object)).toEqual([])
  })
})

test('the settings in deploy/ can be read', () => {
  const { values } = readConfigFile(join(REPOSITORY, 'deploy/base/fleetglass.yaml'))
  expect(values.get('registrations')).toBe('management')
})

function fits(selector: Manifest, labels: Manifest): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value)
}

function settingsIn(objects: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const map = ofKind(objects, 'ConfigMap').find(({ data }) => data['fleetglass.yaml'])
  const lines = map.data['fleetglass.yaml'].split('\n')
  return Object.fromEntries(
    lines
      .map((line: string) => /^([a-z-]+): (.*)$/.exec(line))
      .filter(Boolean)
      .map(([, flag, value]: string[]) => [flag, value]),
  )
}

async function flagsOf(command: string): Promise<readonly (string | undefined)[]> {
  expect([...COMMANDS.keys()]).toContain(command)
  const program = new Command()
  for (const define of await commandsFor([command])) define(program, () => undefined)
  return program.commands[0]!.options.map(({ long }) => long)
}

/** Of PromQL and Grafana, and labels. */
const NO_METRICS = new Set([
  ...['label_values', 'min_over_time', 'histogram_quantile', '__rate_interval', 'rate_interval'],
  ...['request_kind'],
])

function expressionsIn(objects: readonly Manifest[]): readonly string[] {
  const alerts = ofKind(objects, 'PrometheusRule').flatMap(({ spec }) =>
    spec.groups.flatMap(({ rules }: Manifest) => rules.map(({ expr }: Manifest) => expr)),
  )
  const boards = ofKind(objects, 'ConfigMap').flatMap(({ data }) =>
    Object.entries<string>(data)
      .filter(([name]) => name.endsWith('.json'))
      .map(([, text]) => JSON.parse(text)),
  )
  const panels = boards.flatMap((board) => [
    ...board.panels.flatMap(({ targets = [] }: Manifest) =>
      targets.map(({ expr }: Manifest) => expr),
    ),
    ...board.templating.list.map(({ query }: Manifest) => query),
  ])
  return [...alerts, ...panels]
}

/** What Prometheus would know of our processes; `up`, which it knows of them itself, is not matched. */
async function metricNames(): Promise<readonly string[]> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new SyncMetrics(registry)
  new WorkQueues(registry, systemClock)
  new ReviewMetrics(registry)
  tellWhoLeads(registry, () => false)
  const server = fastify()
  await server.register(fp(async () => undefined, { name: 'authenticate' }))
  const metrics = new RequestMetrics({ registry, isServed: () => false })
  await server.register(inFlight, { limits: DEFAULT_READER_LIMITS, metrics })
  await server.close()
  const all = await registry.getMetricsAsJSON()
  return all.flatMap(({ name, type }) =>
    String(type) === 'histogram' ? [`${name}_sum`, `${name}_count`, `${name}_bucket`] : [name],
  )
}
