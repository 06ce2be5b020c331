/**
 * What our controllers count on from the API server they write to. Where KUBE_APISERVER and ETCD
 * name binaries, it is asked of a real one; so the stand-in is held to the same answers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Method, RequestOptions } from '../../src/management/client.ts'
import {
  apiserverInUse,
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'

const CLUSTERS = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`
const APPLY = { contentType: 'application/apply-patch+yaml' }
const MERGE = { contentType: 'application/merge-patch+json' }

let cluster: ManagementCluster

beforeAll(async () => {
  cluster = await startManagementCluster()
})
afterAll(() => cluster.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function ask(method: Method, path: string, options?: RequestOptions): Promise<any> {
  return (await cluster.admin.request(method, path, options)).body
}

function pediaCluster(name: string, rest: object = {}) {
  return {
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'PediaCluster',
    metadata: { name },
    spec: { apiserver: 'https://10.0.0.1:6443' },
    ...rest,
  }
}

const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: undefined,
  data: { token: 'czNjcjN0' },
})

test.skipIf(apiserverInUse() === 'stand-in')(
  'asked of a real kube-apiserver, which KUBE_APISERVER and ETCD name',
  async () => {
    const { body } = await cluster.admin.request('GET', '/metrics')
    expect(body).toContain('apiserver_request_total')
  },
)

describe('objects', () => {
  test('are created once', async () => {
    const made = await ask('POST', SECRETS, { body: secret('once') })
    expect(made.metadata).toMatchObject({ name: 'once', namespace: NAMESPACE })
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    await expect(ask('POST', SECRETS, { body: secret('once') })).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'secrets "once" already exists',
    })
  })

  test('of a namespace that is not there are refused', async () => {
    const path = '/api/v1/namespaces/nowhere/secrets'
    await expect(ask('POST', path, { body: secret('lost') })).rejects.toMatchObject({
      code: 404,
      message: 'namespaces "nowhere" not found',
    })
  })

  test('credentials are read as they were written', async () => {
    const spec = { apiserver: 'https://10.0.0.1:6443', tokenData: 'czNjcjN0' }
    await ask('POST', CLUSTERS, { body: pediaCluster('clear', { spec }) })
    expect((await ask('GET', `${CLUSTERS}/clear`)).spec).toEqual(spec)
  })

  test('a replace of an old state is a conflict', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'one' },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15 },
    }
    const first = await ask('POST', LEASES, { body: lease })
    const next = { ...first, spec: { ...first.spec, holderIdentity: 'b' } }
    const second = await ask('PUT', `${LEASES}/one`, { body: next })
    expect(second.spec.holderIdentity).toBe('b')
    expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion)
    await expect(ask('PUT', `${LEASES}/one`, { body: next })).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on leases.coordination.k8s.io "one": the object has been modified; please apply your changes to the latest version and try again',
    })
  })

  test('what breaks the schema is refused, field by field', async () => {
    const spec = { syncResources: [{ group: '', resources: [] }] }
    await expect(
      ask('POST', CLUSTERS, { body: pediaCluster('broken', { spec }) }),
    ).rejects.toMatchObject({ code: 422, reason: 'Invalid' })
  })
})

describe('a status that is applied', () => {
  const condition = (status: string) => ({
    type: 'Ready',
    ...{ status, reason: 'Because', message: '' },
    lastTransitionTime: '2026-12-01T12:00:00Z',
  })
  const applied = (status: string, uid?: string) => ({
    ...{ apiVersion: 'cluster.clusterpedia.io/v1alpha2', kind: 'PediaCluster' },
    metadata: { name: 'applied', ...(uid && { uid }) },
    status: { conditions: [condition(status)] },
  })
  const apply = (status: string, uid?: string) =>
    ask('PATCH', `${CLUSTERS}/applied/status`, {
      ...APPLY,
      body: applied(status, uid),
      query: { fieldManager: 'fleetglass', force: 'true' },
    })

  test('is owned by its manager, and changes nothing when it is the same', async () => {
    await ask('POST', CLUSTERS, { body: pediaCluster('applied') })
    const first = await apply('True')
    expect(first.status.conditions).toEqual([condition('True')])
    expect(first.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'fleetglass',
        operation: 'Apply',
        subresource: 'status',
      }),
    )
    const again = await apply('True')
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    const changed = await apply('False')
    expect(changed.status.conditions).toEqual([condition('False')])
    expect(changed.spec).toEqual(first.spec)
    expect(changed.metadata.generation).toBe(first.metadata.generation)
  })

  test('of another object of the name is a conflict', async () => {
    await expect(apply('True', '11111111-2222-4333-8444-555555555555')).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    })
  })

  test('of an object that is gone is not found', async () => {
    const path = `${CLUSTERS}/gone/status`
    const body = { ...applied('True'), metadata: { name: 'gone' } }
    const query = { fieldManager: 'fleetglass', force: 'true' }
    await expect(ask('PATCH', path, { ...APPLY, body, query })).rejects.toMatchObject({ code: 404 })
  })
})

describe('a finalizer', () => {
  test('holds a deleted object until it is taken away', async () => {
    const path = `${CLUSTERS}/held`
    await ask('POST', CLUSTERS, { body: pediaCluster('held') })
    const finalizers = ['fleetglass.io/mirror']
    const held = await ask('PATCH', path, { ...MERGE, body: { metadata: { finalizers } } })
    await ask('DELETE', path)
    const deleted = await ask('GET', path)
    expect(deleted.metadata.deletionTimestamp).toEqual(expect.any(String))
    const { resourceVersion } = held.metadata
    const old = { metadata: { finalizers: [], resourceVersion } }
    await expect(ask('PATCH', path, { ...MERGE, body: old })).rejects.toMatchObject({ code: 409 })
    await ask('PATCH', path, { ...MERGE, body: { metadata: { finalizers: null } } })
    await expect(ask('GET', path)).rejects.toMatchObject({ code: 404 })
  })

  test('is applied beside those of others, and released by applying nothing', async () => {
    const path = `${CLUSTERS}/released`
    const mine = { finalizers: ['fleetglass.io/mirror'] }
    const apply = (metadata: object) =>
      ask('PATCH', path, {
        ...APPLY,
        body: { ...pediaCluster('released'), spec: undefined, metadata },
        query: { fieldManager: 'fleetglass', force: 'true' },
      })
    const theirs = { name: 'released', finalizers: ['example.com/theirs'] }
    const { metadata } = await ask('POST', CLUSTERS, {
      body: pediaCluster('released', { metadata: theirs }),
    })
    const both = await apply({ name: 'released', uid: metadata.uid, ...mine })
    expect(both.metadata.finalizers).toEqual(['example.com/theirs', 'fleetglass.io/mirror'])
    expect(both.spec).toEqual(pediaCluster('released').spec)
    const released = await apply({ name: 'released' })
    expect(released.metadata.finalizers).toEqual(['example.com/theirs'])
  })

  test('is not applied to what is not there', async () => {
    const metadata = { name: 'nobody', uid: '11111111-2222-4333-8444-555555555555' }
    const asked = ask('PATCH', `${CLUSTERS}/nobody`, {
      ...APPLY,
      body: { ...pediaCluster('nobody'), metadata },
      query: { fieldManager: 'fleetglass' },
    })
    await expect(asked).rejects.toMatchObject({ code: expect.toBeOneOf([404, 409]) })
  })
})
