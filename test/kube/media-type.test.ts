import { describe, expect, test } from 'vitest'
import { negotiate, negotiateObjects, parseAccept } from '../../src/kube/media-type.ts'
import type { StatusError } from '../../src/kube/status-error.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const OLD_TABLE = 'application/json;as=Table;v=v1beta1;g=meta.k8s.io'
const KUBECTL_GET = `${TABLE},${OLD_TABLE},application/json`
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const json = { encoding: 'json', as: 'Object', metaVersion: 'v1' }

describe('what a client gets', () => {
  const cases: ReadonlyArray<{ name: string; accept?: string; want: object }> = [
    { name: 'no Accept header', want: json },
    { name: 'an empty Accept header', accept: ' ', want: json },
    { name: 'anything', accept: '*/*', want: json },
    { name: 'a lone star, as some tools write it', accept: '*', want: json },
    { name: 'any application type', accept: 'application/*', want: json },
    { name: 'kubectl get', accept: KUBECTL_GET, want: { ...json, as: 'Table' } },
    {
      name: 'an old kubectl',
      accept: `${OLD_TABLE},application/json`,
      want: { ...json, as: 'Table', metaVersion: 'v1beta1' },
    },
    { name: 'kubectl events', accept: `${PROTOBUF},application/json`, want: json },
    { name: 'YAML', accept: 'application/yaml', want: { ...json, encoding: 'yaml' } },
    {
      name: 'a Table in YAML',
      accept: 'application/yaml;as=Table;v=v1;g=meta.k8s.io',
      want: { encoding: 'yaml', as: 'Table', metaVersion: 'v1' },
    },
    {
      name: 'metadata of a list',
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      want: { ...json, as: 'PartialObjectMetadataList' },
    },
    {
      name: 'a Table of a version that does not exist, else JSON',
      accept: 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json',
      want: json,
    },
    {
      name: 'the higher quality first, wherever it stands',
      accept: 'application/json;q=0.5,application/yaml;q=0.9',
      want: { ...json, encoding: 'yaml' },
    },
    {
      name: 'a wildcard after what is spelled out',
      accept: '*/*,application/yaml',
      want: { ...json, encoding: 'yaml' },
    },
    {
      name: 'quality 0 means never',
      accept: 'application/json;q=0,application/yaml;q=0.1',
      want: { ...json, encoding: 'yaml' },
    },
    { name: 'upper case and a charset', accept: 'Application/JSON; charset="utf-8"', want: json },
    { name: 'rubbish beside JSON', accept: ';;,/,a/b/c,application/json', want: json },
  ]
  for (const { name, accept, want } of cases) {
    test(name, () => expect(negotiateObjects(accept, 'list')).toEqual(want))
  }
})

describe('what is refused with 406', () => {
  const NOT_OURS =
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml'
  const NOT_SO = 'only the following media types are accepted: application/json, application/yaml'
  const cases: ReadonlyArray<{ name: string; accept: string; message: string }> = [
    { name: 'HTML', accept: 'text/html', message: NOT_OURS },
    { name: 'protobuf alone', accept: PROTOBUF, message: NOT_OURS },
    { name: 'nothing that can be read', accept: 'json', message: NOT_OURS },
    {
      name: 'a Table of an unknown version',
      accept: 'application/json;as=Table;v=v9;g=meta.k8s.io',
      message: NOT_SO,
    },
    {
      name: 'a conversion of another group',
      accept: 'application/json;as=Table;v=v1;g=example.com',
      message: NOT_SO,
    },
    {
      name: 'one object, of a list',
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      message: 'you requested PartialObjectMetadata, but the requested object is a list',
    },
  ]
  for (const { name, accept, message } of cases) {
    test(name, () => {
      const error = catchError(() => negotiateObjects(accept, 'list'))
      expect(error).toMatchObject({ reason: 'NotAcceptable', message })
    })
  }
})

test('other conversions are offered by whoever can make them', () => {
  const offered = ['application/json', PROTOBUF]
  const isDiscovery = ({ kind }: { kind: string }) => kind === 'APIGroupDiscoveryList'
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  expect(negotiate(accept, offered, isDiscovery)).toMatchObject({
    mediaType: 'application/json',
    convert: { kind: 'APIGroupDiscoveryList', group: 'apidiscovery.k8s.io', version: 'v2' },
  })
  expect(negotiate(PROTOBUF, offered).mediaType).toBe(PROTOBUF)
})

test('clauses of one quality stay in the order given', () => {
  const order = parseAccept('b/b;q=0.5,a/a,*/*,c/*,d/d').map(({ mediaType }) => mediaType)
  expect(order).toEqual(['a/a', 'd/d', 'c/*', '*/*', 'b/b'])
})

function catchError(run: () => unknown): StatusError {
  try {
    run()
  } catch (error) {
    return error as StatusError
  }
  throw new Error('nothing was thrown')
}
