/** Routes of Ingresses that lead to no Service, to one without pods, or to a port it does not have. */
import { type Fields, fields, text } from '../../printers/read-field.ts'
import type { Finding, IssueName } from '../issue.ts'
import type { Observation } from '../observation.ts'
import { namespaceOf, placeOf, recordsIn, specOf } from '../read-object.ts'
import { type Services, servicesIn } from './services.ts'

interface Route {
  readonly service: string
  /** A number or a name; undefined when the backend has none. */
  readonly port: number | string | undefined
}

/** One finding for each route: three paths to a Service that is not there are three. */
export function ingressIssues(observation: Observation): readonly Finding[] {
  const services = servicesIn(observation)
  if (!services) return []
  return (observation.lists.ingresses ?? []).flatMap((ingress) =>
    routesOf(ingress).flatMap((route) => {
      const issue = issueOf(route, namespaceOf(ingress), services)
      const reason = reasonOf(issue, route)
      return issue ? [{ issue, kind: 'Ingress', ...placeOf(ingress), reason }] : []
    }),
  )
}

function routesOf(ingress: Fields): readonly Route[] {
  const spec = specOf(ingress)
  const paths = recordsIn(spec.rules).flatMap(({ http }) => recordsIn(fields(http).paths))
  return [spec.defaultBackend ?? spec.backend, ...paths.map(({ backend }) => backend)]
    .map((backend) => routeOf(fields(backend)))
    .filter((route) => route !== undefined)
}

/** v1 has `service`, v1beta1 `serviceName`; what leads to another object is no route. */
function routeOf(backend: Fields): Route | undefined {
  const { name, port } = fields(backend.service)
  const service = text(name ?? backend.serviceName)
  if (service === '') return undefined
  return {
    service,
    port: portIn(fields(port).name) ?? portIn(fields(port).number ?? backend.servicePort),
  }
}

function portIn(value: unknown): number | string | undefined {
  if (typeof value === 'number' && value !== 0) return value
  return typeof value === 'string' && value !== '' ? value : undefined
}

function issueOf(route: Route, namespace: string, services: Services): IssueName | undefined {
  const service = services.find(namespace, route.service)
  if (!service) return 'NoService'
  if (services.lacksEndpoints(service)) return 'NoEndpoints'
  const isReachable = (services.readyAddresses(service) ?? 0) > 0
  return isReachable && !exposes(service, route.port) ? 'PortNotExposed' : undefined
}

function exposes(service: Fields, port: Route['port']): boolean {
  if (port === undefined) return true
  return recordsIn(specOf(service).ports).some((one) => one.port === port || one.name === port)
}

function reasonOf(issue: IssueName | undefined, { service, port }: Route): string {
  if (issue === 'NoService') return `a route leads to the Service ${service}, which is not there`
  if (issue === 'NoEndpoints') return `no ready pod is behind the Service ${service} of a route`
  return `the Service ${service} of a route does not expose port ${port}`
}
