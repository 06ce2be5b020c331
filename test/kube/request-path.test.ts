import { describe, expect, test } from 'vitest'
import { parseResourcePath, type ResourcePath } from '../../src/kube/request-path.ts'

const CORE = { group: '', version: 'v1' }
const APPS = { group: 'apps', version: 'v1' }

describe('a path of objects', () => {
  const cases: ReadonlyArray<{ readonly path: string; readonly want: ResourcePath }> = [
    { path: '/api/v1/pods', want: { ...CORE, resource: 'pods' } },
    { path: '/api/v1/pods/', want: { ...CORE, resource: 'pods' } },
    { path: '/api/v1/namespaces', want: { ...CORE, resource: 'namespaces' } },
    { path: '/api/v1/namespaces/shop', want: { ...CORE, resource: 'namespaces', name: 'shop' } },
    {
      path: '/api/v1/namespaces/shop/status',
      want: { ...CORE, resource: 'namespaces', name: 'shop', subresource: 'status' },
    },
    {
      path: '/api/v1/namespaces/shop/finalize',
      want: { ...CORE, resource: 'namespaces', name: 'shop', subresource: 'finalize' },
    },
    {
      path: '/api/v1/namespaces/shop/pods',
      want: { ...CORE, namespace: 'shop', resource: 'pods' },
    },
    {
      path: '/api/v1/namespaces/status/pods',
      want: { ...CORE, namespace: 'status', resource: 'pods' },
    },
    {
      path: '/api/v1/namespaces/shop/pods/web-0',
      want: { ...CORE, namespace: 'shop', resource: 'pods', name: 'web-0' },
    },
    {
      path: '/api/v1/namespaces/shop/pods/web-0/log',
      want: { ...CORE, namespace: 'shop', resource: 'pods', name: 'web-0', subresource: 'log' },
    },
    {
      path: '/api/v1/nodes/n/proxy/metrics/cadvisor',
      want: { ...CORE, resource: 'nodes', name: 'n', subresource: 'proxy/metrics/cadvisor' },
    },
    { path: '/apis/apps/v1/deployments', want: { ...APPS, resource: 'deployments' } },
    {
      path: '/apis/apps/v1/namespaces/shop/deployments/web/scale',
      want: {
        ...APPS,
        namespace: 'shop',
        resource: 'deployments',
        name: 'web',
        subresource: 'scale',
      },
    },
    { path: '/api/v1/watch/pods', want: { ...CORE, resource: 'pods', watch: true } },
    {
      path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
      want: {
        ...{ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' },
        name: 'system:node',
      },
    },
    { path: '/api/v1/nodes/a%2Fb%2541', want: { ...CORE, resource: 'nodes', name: 'a/b%41' } },
  ]
  for (const { path, want } of cases) {
    test(path, () => expect(parseResourcePath(path)).toEqual(want))
  }
})

describe('another path', () => {
  const paths = ['', '/', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/healthz']
  for (const path of [...paths, '/api//pods', '/api/v1//pods', '/openapi/v3/api/v1']) {
    test(path, () => expect(parseResourcePath(path)).toBeUndefined())
  }
})

test('an escape that cannot be decoded is 400', () => {
  expect(() => parseResourcePath('/api/v1/pods/%zz')).toThrow(
    expect.objectContaining({ reason: 'BadRequest' }),
  )
})
