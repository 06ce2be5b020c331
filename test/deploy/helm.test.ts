/** The chart makes the same objects as the overlays do, but for what Helm does in another way. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { foreignProblems } from '../support/foreign-schema.ts'
import {
  findHelm,
  hasKubectl,
  type Manifest,
  OVERLAYS,
  ofKind,
  podTemplateOf,
  REPOSITORY,
  renderChart,
  renderOverlay,
  titleOf,
} from '../support/manifests.ts'
import { brokenRules } from '../support/pod-security.ts'
import { RecordedSchema } from '../support/recorded-schema.ts'

const helm = findHelm()
const CHART = join(REPOSITORY, 'deploy/helm/fleetglass')
if (!helm) test.skip('the chart, because there is no helm', () => undefined)

describe.skipIf(!helm || !hasKubectl).each(OVERLAYS)('%s', (overlay) => {
  const chart = helm ? renderChart(helm, overlay) : []
  const kustomized = hasKubectl ? renderOverlay(overlay) : []

  test('has the same objects', () => {
    // Of the namespace Helm wants to know nothing: `--create-namespace`.
    const ours = kustomized.filter(({ kind }) => kind !== 'Namespace')
    expect(chart.map(alike).map(titleOf).toSorted()).toEqual(
      ours.map(alike).map(titleOf).toSorted(),
    )
  })

  test.each(chart.map((object) => [titleOf(object), object] as const))(
    '%s is the same',
    (_, object) => {
      const title = titleOf(alike(object))
      const other = kustomized.find((one) => titleOf(alike(one)) === title)
      expect(alike(object)).toEqual(other && alike(other))
    },
  )
})

describe.skipIf(!helm)('values', () => {
  const render = (...args: string[]) => renderChart(helm!, 'production', args)
  const deployments = (objects: readonly Manifest[]) =>
    ofKind(objects, 'Deployment').map((object) => podTemplateOf(object).spec)

  test('the namespace is that of the release, everywhere', () => {
    const objects = render('--namespace', 'elsewhere')
    expect(JSON.stringify(objects)).not.toContain('fleetglass-system')
    const [service] = ofKind(objects, 'APIService')
    expect(service.spec.service.namespace).toBe('elsewhere')
  })

  test('settings are put into the file, and win', () => {
    const set = 'settings.log-level=warn,settings.authorization-mode=Aggregator'
    const [map] = ofKind(render('--set', set), 'ConfigMap').filter(
      ({ data }) => data['fleetglass.yaml'],
    )
    expect(parse(map.data['fleetglass.yaml'])).toMatchObject({
      'log-level': 'warn',
      'authorization-mode': 'Aggregator',
      registrations: 'management',
    })
  })

  test('a changed setting rolls the pods', () => {
    const sums = [render(), render('--set', 'settings.log-level=warn')].map((objects) =>
      ofKind(objects, 'Deployment').map(
        ({ spec }) => spec.template.metadata.annotations['checksum/config'],
      ),
    )
    expect(sums[0]).not.toEqual(sums[1])
  })

  test('the image, and whose secret pulls it', () => {
    const objects = render(
      '--set',
      'image.repository=registry.example.com/fg,image.tag=1,imagePullSecrets[0].name=pull',
    )
    for (const spec of deployments(objects)) {
      expect(spec.containers[0].image).toBe('registry.example.com/fg:1')
      expect(spec.imagePullSecrets).toEqual([{ name: 'pull' }])
    }
  })

  test('everything else there is can be set, and is what an API server takes', () => {
    const schema = new RecordedSchema()
    const objects = render(
      ...['--set', 'apiserver.replicas=1,syncer.nodeSelector.disk=ssd'],
      ...['--set', 'syncer.tolerations[0].key=a,syncer.tolerations[0].operator=Exists'],
      ...['--set', 'postgres.enabled=true,postgres.storageClassName=fast,postgres.storage=5Gi'],
      ...['--set', 'networkPolicy.databasePort=6432,networkPolicy.apiServerPorts={8443}'],
      ...['--set', 'databaseSecret=db,encryptionKeySecret=key,certificates.source=given'],
    )
    for (const object of objects)
      expect(schema.problems(object) ?? foreignProblems(object)).toEqual([])
    for (const spec of deployments(objects)) expect(brokenRules(spec)).toEqual([])
    expect(ofKind(objects, 'CronJob')).toEqual([])
    expect(ofKind(objects, 'PodDisruptionBudget').map(({ metadata }) => metadata.name)).toEqual([
      'fleetglass-syncer',
    ])
    const text = JSON.stringify(objects)
    for (const value of ['"disk":"ssd"', '"fast"', '6432', '"db"', '"key"']) {
      expect(text).toContain(value)
    }
  })

  test('a source of certificates that there is not is refused', () => {
    expect(() => render('--set', 'certificates.source=magic')).toThrow(
      'certificates.source must be job, cert-manager or given',
    )
  })

  test('helm lint finds nothing', () => {
    const out = execFileSync(helm!, ['lint', '--strict', CHART], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    expect(out).toContain('0 chart(s) failed')
  })
})

test('the chart is of this release', () => {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))
  expect(chart).toMatchObject({ version, appVersion: version })
})

/** Without what the two do in ways of their own: how a changed ConfigMap rolls pods. */
function alike(object: Manifest): Manifest {
  const text = JSON.stringify(object).replaceAll(
    /fleetglass-config-[a-z0-9]{10}/g,
    'fleetglass-config',
  )
  const copy = JSON.parse(text)
  const template = podTemplateOf(copy)
  delete template?.metadata.annotations
  for (const container of template?.spec.containers ?? []) delete container.imagePullPolicy
  if (copy.data?.['fleetglass.yaml']) {
    copy.data['fleetglass.yaml'] = parse(copy.data['fleetglass.yaml'])
  }
  return copy
}
