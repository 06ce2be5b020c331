/** What a request is to RBAC, as kube-apiserver sees it. */
import { expect, test } from 'vitest'
import { attributesOf } from '../../src/kube/request-attributes.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }

test.each([
  ['GET /api/v1/pods', { ...PODS, verb: 'list' }],
  ['GET /api/v1/pods?watch', { ...PODS, verb: 'watch' }],
  ['GET /api/v1/pods?watch=1', { ...PODS, verb: 'watch' }],
  ['GET /api/v1/pods?watch=0', { ...PODS, verb: 'list' }],
  ['GET /api/v1/pods?watch=False', { ...PODS, verb: 'list' }],
  ['GET /api/v1/namespaces/a/pods/x', { ...PODS, verb: 'get', namespace: 'a', name: 'x' }],
  ['DELETE /api/v1/namespaces/a/pods', { ...PODS, verb: 'deletecollection', namespace: 'a' }],
  [
    'GET /api/v1/namespaces/a/status',
    {
      ...{ ...PODS, resource: 'namespaces', subresource: 'status' },
      ...{ verb: 'get', namespace: 'a', name: 'a' },
    },
  ],
  [
    'GET /apis/clusterpedia.io/v1beta1/resources/clusters/C/api/v1/pods',
    {
      ...{ verb: 'get', group: 'clusterpedia.io', version: 'v1beta1' },
      ...{ resource: 'resources', name: 'clusters', subresource: 'C' },
    },
  ],
  ['GET /metrics', { verb: 'get', path: '/metrics' }],
  ['GET /apis/apps/v1', { verb: 'get', path: '/apis/apps/v1' }],
])('%s', (line, want) => {
  const [method = '', target = ''] = line.split(' ')
  const [path = '', query] = target.split('?')
  expect(attributesOf({ method, path, query: new URLSearchParams(query) })).toEqual(want)
})
