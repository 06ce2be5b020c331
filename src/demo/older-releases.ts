/**
 * What older Kubernetes releases serve of the built-in types: fewer types, and versions that have
 * since become stable, in place of the stable one or beside it.
 *
 * @see https://kubernetes.io/docs/reference/using-api/deprecation-guide/
 */
import { ingressAsBeta, scalerAsV1, sliceAsBeta } from './conversions.ts'
import type { MemberResource } from './member/served-resources.ts'

/** First and last minor release of 1.x that serves it; `last` left out: still served. */
interface Served {
  readonly first: number
  readonly last?: number
}

/** By `group/version`, or `group/version/resource` where one type differs from its neighbours. */
const SERVED: Readonly<Record<string, Served>> = {
  'admissionregistration.k8s.io/v1/validatingadmissionpolicies': { first: 30 },
  'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings': { first: 30 },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicies': { first: 36 },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings': { first: 36 },
  'authentication.k8s.io/v1/selfsubjectreviews': { first: 28 },
  'autoscaling/v2': { first: 23 },
  'batch/v1/cronjobs': { first: 21 },
  'certificates.k8s.io/v1': { first: 19 },
  'discovery.k8s.io/v1': { first: 21 },
  'events.k8s.io/v1': { first: 19 },
  'flowcontrol.apiserver.k8s.io/v1': { first: 29 },
  'networking.k8s.io/v1/ingressclasses': { first: 19 },
  'networking.k8s.io/v1/ingresses': { first: 19 },
  'networking.k8s.io/v1/ipaddresses': { first: 33 },
  'networking.k8s.io/v1/servicecidrs': { first: 33 },
  'node.k8s.io/v1': { first: 20 },
  'policy/v1': { first: 21 },
  'resource.k8s.io/v1': { first: 34 },
  'storage.k8s.io/v1/csistoragecapacities': { first: 24 },
  'storage.k8s.io/v1/volumeattributesclasses': { first: 34 },
}

/** A version that is gone from 1.36: which stable type it became, and how its objects look. */
interface Former extends Served {
  readonly group: string
  readonly version: string
  readonly of: { readonly group: string; readonly version: string; readonly resource: string }
  readonly convert?: (text: Buffer) => Buffer
}

const FORMER: readonly Former[] = [
  {
    group: 'policy',
    version: 'v1beta1',
    first: 5,
    last: 24,
    of: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  },
  {
    group: 'batch',
    version: 'v1beta1',
    first: 8,
    last: 24,
    of: { group: 'batch', version: 'v1', resource: 'cronjobs' },
  },
  {
    group: 'networking.k8s.io',
    version: 'v1beta1',
    first: 14,
    last: 21,
    of: { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' },
    convert: ingressAsBeta,
  },
  {
    group: 'networking.k8s.io',
    version: 'v1beta1',
    first: 18,
    last: 21,
    of: { group: 'networking.k8s.io', version: 'v1', resource: 'ingressclasses' },
  },
  {
    group: 'extensions',
    version: 'v1beta1',
    first: 1,
    last: 21,
    of: { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' },
    convert: ingressAsBeta,
  },
  {
    group: 'autoscaling',
    version: 'v2beta2',
    first: 12,
    last: 25,
    of: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
  },
  {
    group: 'discovery.k8s.io',
    version: 'v1beta1',
    first: 17,
    last: 24,
    of: { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' },
    convert: sliceAsBeta,
  },
  {
    group: 'events.k8s.io',
    version: 'v1beta1',
    first: 8,
    last: 24,
    of: { group: 'events.k8s.io', version: 'v1', resource: 'events' },
  },
  {
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1beta3',
    first: 26,
    last: 31,
    of: { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', resource: 'flowschemas' },
  },
  {
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1beta3',
    first: 26,
    last: 31,
    of: {
      group: 'flowcontrol.apiserver.k8s.io',
      version: 'v1',
      resource: 'prioritylevelconfigurations',
    },
  },
]

/** The built-in types of release 1.`minor`, made from those of the newest. */
export function resourcesOfRelease(
  newest: readonly MemberResource[],
  minor: number,
): MemberResource[] {
  const former = FORMER.filter((entry) => covers(entry, minor)).map(
    ({ of, group, version, convert }): MemberResource => ({
      ...newest.find(
        (resource) =>
          resource.group === of.group &&
          resource.version === of.version &&
          resource.resource === of.resource,
      )!,
      group,
      version,
      ...(convert && { convert }),
    }),
  )
  const current = newest
    .filter(({ group, version, resource }) => {
      const served = SERVED[`${group}/${version}/${resource}`] ?? SERVED[`${group}/${version}`]
      return served === undefined || covers(served, minor)
    })
    .map((resource) =>
      resource.group === 'autoscaling' && resource.version === 'v1'
        ? { ...resource, convert: scalerAsV1 }
        : resource,
    )
  return [...current, ...former]
}

function covers({ first, last }: Served, minor: number): boolean {
  return minor >= first && (last === undefined || minor <= last)
}
