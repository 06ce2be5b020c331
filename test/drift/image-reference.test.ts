import { describe, expect, test } from 'vitest'
import { parseImageReference, resolvedDigest } from '../../src/drift/image-reference.ts'
import { digest } from './seen.ts'

const hub = (path: string) => `docker.io/${path}`
const SHA512 = `sha512:${'0123456789abcdef'.repeat(8)}`

describe('an image reference is taken apart', () => {
  const cases: ReadonlyArray<{
    name: string
    image: string
    key: string
    token: string
    tag?: string
  }> = [
    {
      name: 'I1 a port is no tag',
      image: 'host:5000/a/b:1.2',
      key: 'host:5000/a/b',
      token: '1.2',
      tag: '1.2',
    },
    {
      name: 'I2 a port without a tag',
      image: 'host:5000/a/b',
      key: 'host:5000/a/b',
      token: 'latest',
    },
    {
      name: 'I3 without a slash it is no port',
      image: 'host:5000',
      key: hub('library/host'),
      token: '5000',
      tag: '5000',
    },
    { name: 'I4 the shortest', image: 'nginx', key: hub('library/nginx'), token: 'latest' },
    {
      name: 'I4 the longest',
      image: 'index.docker.io/library/nginx:latest',
      key: hub('library/nginx'),
      token: 'latest',
      tag: 'latest',
    },
    {
      name: 'I4 Docker Hub by name',
      image: 'docker.io/nginx',
      key: hub('library/nginx'),
      token: 'latest',
    },
    { name: 'I5 localhost', image: 'localhost/app:1', key: 'localhost/app', token: '1', tag: '1' },
    { name: 'I6 a team', image: 'team/app:1', key: hub('team/app'), token: '1', tag: '1' },
    {
      name: 'I7 an address in brackets',
      image: '[::1]:5000/app:1',
      key: '[::1]:5000/app',
      token: '1',
      tag: '1',
    },
    {
      name: 'I9 tag and digest: the digest is pulled',
      image: `app:1.2@${digest('a')}`,
      key: hub('library/app'),
      token: digest('a'),
      tag: '1.2',
    },
    {
      name: 'I27 another algorithm',
      image: `app@${SHA512}`,
      key: hub('library/app'),
      token: SHA512,
    },
    {
      name: 'I28 digests in capitals',
      image: `app@${digest('a').toUpperCase().replace('SHA', 'sha')}`,
      key: hub('library/app'),
      token: digest('a'),
    },
    {
      name: 'I29 a v is part of the tag',
      image: 'a:v1.2',
      key: hub('library/a'),
      token: 'v1.2',
      tag: 'v1.2',
    },
    {
      name: 'I32 a suffix too',
      image: 'a:1-gpu',
      key: hub('library/a'),
      token: '1-gpu',
      tag: '1-gpu',
    },
    {
      name: 'blanks around it',
      image: '  nginx:1 \n',
      key: hub('library/nginx'),
      token: '1',
      tag: '1',
    },
    {
      name: 'a registry in capitals is a host name',
      image: 'Registry.Example.COM/App/x'.replace('App', 'app'),
      key: 'registry.example.com/app/x',
      token: 'latest',
    },
    {
      name: 'a tag of 128 characters',
      image: `a:${'t'.repeat(128)}`,
      key: hub('library/a'),
      token: 't'.repeat(128),
      tag: 't'.repeat(128),
    },
  ]
  test.each(cases)('$name: $image', ({ image, key, token, tag }) => {
    const parsed = parseImageReference(image)
    expect(parsed).toMatchObject({ kind: 'reference', key, token })
    expect('tag' in parsed ? parsed.tag : undefined).toBe(tag)
  })
})

describe('I26 what is no reference keeps its text', () => {
  test.each([
    ['an empty text', '', 'invalid'],
    ['a path in capitals', 'Repo/APP:1', 'invalid'],
    ['a capital in the path of Docker Hub', 'library/App', 'invalid'],
    ['an empty tag', 'app:', 'invalid'],
    ['a blank in it', 'my app:1', 'invalid'],
    ['a tag of 129 characters', `app:${'t'.repeat(129)}`, 'invalid'],
    ['a tag of 200 characters', `app:${'t'.repeat(200)}`, 'invalid'],
    ['a digest that is too short', 'app@sha256:abc', 'invalid'],
    ['a digest without an algorithm', `app@${'a'.repeat(64)}`, 'invalid'],
    ['two digests', `app@${digest('a')}@${digest('b')}`, 'invalid'],
    ['a registry alone', 'example.com/', 'invalid'],
    ['two slashes', 'example.com//app', 'invalid'],
    ['a path of 256 characters', `example.com/${'a'.repeat(256)}`, 'invalid'],
    ['an address without a path', '[::1]:5000', 'invalid'],
    ['a URL', 'https://example.com/app', 'invalid'],
    ['64 digits: an image id', 'ab'.repeat(32), 'image-id'],
    ['an image id with its algorithm', digest('a'), 'image-id'],
  ])('%s', (_, image, kind) => {
    expect(parseImageReference(image)).toEqual({ kind, raw: image.trim() })
  })
})

describe('I12 the digest that a registry knows', () => {
  test.each([
    ['with the scheme of dockershim', `docker-pullable://repo@${digest('a')}`, digest('a')],
    ['of containerd', `registry.example.com:5000/repo@${digest('b')}`, digest('b')],
    ['in capitals', `repo@SHA256:${'AB'.repeat(32)}`, `sha256:${'ab'.repeat(32)}`],
    ['a bare id is of a configuration', digest('a'), undefined],
    ['a bare id with a scheme', `docker://${digest('a')}`, undefined],
    ['nothing yet', '', undefined],
    ['rubbish after the @', 'repo@latest', undefined],
  ])('%s', (_, imageId, expected) => {
    expect(resolvedDigest(imageId)).toBe(expected)
  })
})
