/**
 * Built-in objects in the form of another version or group of their type, where that has another
 * shape: what a real API server does when it stores one version and serves several.
 *
 * Where shapes are the same, only `apiVersion` differs (member/representation.ts).
 */
import type { JsonObject } from '../kube/kube-object.ts'

type Convert = (text: Buffer) => Buffer

function converting(change: (object: JsonObject) => JsonObject): Convert {
  return (text) => Buffer.from(JSON.stringify(change(JSON.parse(text.toString()) as JsonObject)))
}

const part = (object: JsonObject, key: string) => (object[key] ?? {}) as JsonObject
const list = (object: JsonObject, key: string) => (object[key] ?? []) as readonly JsonObject[]

/** networking.k8s.io/v1beta1 and extensions/v1beta1: backends are `serviceName`, `servicePort`. */
export const ingressAsBeta = converting((ingress) => {
  const { defaultBackend, ...spec } = part(ingress, 'spec')
  const rules = list(spec, 'rules').map((rule) => {
    const paths = list(part(rule, 'http'), 'paths').map((path) => ({
      ...path,
      backend: betaBackend(part(path, 'backend')),
    }))
    return { ...rule, http: { paths } }
  })
  const backend = defaultBackend && betaBackend(defaultBackend as JsonObject)
  return { ...ingress, spec: { ...spec, ...(backend && { backend }), rules } }
})

function betaBackend(backend: JsonObject): JsonObject {
  const service = part(backend, 'service')
  const port = part(service, 'port')
  if (service.name === undefined) return backend
  return { serviceName: service.name, servicePort: port.number ?? port.name }
}

/** autoscaling/v1: a CPU percentage, and whatever else in annotations. */
export const scalerAsV1 = converting((scaler) => {
  const { metrics: _metrics, ...spec } = part(scaler, 'spec')
  const { currentMetrics: _current, conditions: _conditions, ...status } = part(scaler, 'status')
  const cpu = list(part(scaler, 'spec'), 'metrics').find(isCpu)
  const currentCpu = list(part(scaler, 'status'), 'currentMetrics').find(isCpu)
  const target = cpu && part(part(cpu, 'resource'), 'target').averageUtilization
  const current = currentCpu && part(part(currentCpu, 'resource'), 'current').averageUtilization
  return {
    ...scaler,
    spec: { ...spec, ...(target && { targetCPUUtilizationPercentage: target }) },
    status: { ...status, ...(current && { currentCPUUtilizationPercentage: current }) },
  }
})

function isCpu(metric: JsonObject): boolean {
  return part(metric, 'resource').name === 'cpu'
}

/** discovery.k8s.io/v1beta1: the node is in `topology`. */
export const sliceAsBeta = converting((slice) => ({
  ...slice,
  endpoints: list(slice, 'endpoints').map(({ nodeName, ...endpoint }) => ({
    ...endpoint,
    ...(nodeName && { topology: { 'kubernetes.io/hostname': nodeName } }),
  })),
}))

/** events.k8s.io: other names for the same fields. */
export const eventAsNewer = converting((event) => {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest } = event
  const { reportingComponent, reportingInstance, ...kept } = rest
  return {
    ...kept,
    reportingController: reportingComponent,
    reportingInstance,
    regarding: involvedObject,
    note: message,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
  }
})
