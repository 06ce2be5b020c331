import { describe, expect, test } from 'vitest'
import { compareImages, type ImageRow } from '../../src/drift/compare-images.ts'
import { ignoring } from '../../src/drift/ignore.ts'
import { ImageInventory, renameMirrors } from '../../src/drift/image-inventory.ts'
import { digest, type Running, running, seen, unknown } from './seen.ts'

const pinned = (tag: string, letter: string) => `app${tag && `:${tag}`}@${digest(letter)}`
const pulled = (image: string, letter: string, architecture?: string): Running => ({
  ...{ image, pulled: letter },
  ...(architecture !== undefined && { architecture }),
})

function only(clusters: Parameters<typeof running>[0]): ImageRow {
  const { rows } = compareImages(running(clusters))
  expect(rows).toHaveLength(1)
  return rows[0]!
}

const tokensOf = ({ clusters }: ImageRow) =>
  Object.fromEntries(clusters.map(({ cluster, tokens }) => [cluster, tokens]))

describe('one repository in two clusters', () => {
  type Case = {
    name: string
    a: ReadonlyArray<Running | string>
    b: ReadonlyArray<Running | string>
    drift: boolean
    class: ImageRow['class']
    note?: RegExp
  }
  const cases: readonly Case[] = [
    { name: 'the same tag', a: ['app:1'], b: ['app:1'], drift: false, class: 'none' },
    { name: 'another tag', a: ['app:1'], b: ['app:2'], drift: true, class: 'tag' },
    {
      name: 'I6 with and without Docker Hub',
      a: ['team/app:1'],
      b: ['docker.io/team/app:1'],
      drift: false,
      class: 'none',
    },
    {
      name: 'I8 pinned and tag, pulled as the same',
      a: [pinned('', 'a')],
      b: [pulled('app:1.2', 'a')],
      ...{ drift: false, class: 'none', note: /^tags differ, the digest is the same$/ },
    },
    {
      name: 'I8 pinned and tag, pulled as another',
      a: [pinned('', 'a')],
      b: [pulled('app:1.2', 'b')],
      ...{ drift: true, class: 'tag' },
    },
    {
      name: 'I8 pinned and tag, not known what was pulled',
      a: [pinned('', 'a')],
      b: ['app:1.2'],
      ...{ drift: false, class: 'tag', note: /equality unknown: pinned by digest .* by tag/ },
    },
    {
      name: 'I9 D11 another tag of one digest',
      a: [pinned('1.2', 'a')],
      b: [pinned('1.3', 'a')],
      ...{ drift: false, class: 'none', note: /^tags differ, the digest is the same$/ },
    },
    {
      name: 'I10 D11 one tag of two digests',
      a: [pinned('1.2', 'a')],
      b: [pinned('1.2', 'b')],
      ...{ drift: true, class: 'digest' },
    },
    {
      name: 'two digests without tags',
      a: [pinned('', 'a')],
      b: [pinned('', 'b')],
      ...{ drift: true, class: 'digest' },
    },
    {
      name: 'I11 D12 one tag, pulled as two digests',
      a: [pulled('app:latest', 'a')],
      b: [pulled('app:latest', 'b')],
      ...{ drift: true, class: 'digest' },
    },
    {
      name: 'I12 D12 one tag, of which one cluster has a bare id',
      a: [pulled('app:latest', 'a')],
      b: [pulled('app:latest', 'bare:b')],
      ...{ drift: false, class: 'none', note: /^equality unknown: not every cluster tells/ },
    },
    {
      name: 'bare ids in both: nothing suggests a difference',
      a: [pulled('app:latest', 'bare:a')],
      b: [pulled('app:latest', 'bare:b')],
      ...{ drift: false, class: 'none' },
    },
    {
      name: 'I13 one tag, two digests, two architectures',
      a: [pulled('app:1', 'a', 'amd64')],
      b: [pulled('app:1', 'b', 'arm64')],
      ...{ drift: false, class: 'none', note: /^possibly platform/ },
    },
    {
      name: 'I13 one tag, two digests, one architecture',
      a: [pulled('app:1', 'a', 'amd64')],
      b: [pulled('app:1', 'b', 'amd64')],
      ...{ drift: true, class: 'digest' },
    },
    {
      name: 'I13 a second architecture in one cluster',
      a: [pulled('app:1', 'a', 'amd64')],
      b: [pulled('app:1', 'a', 'amd64'), pulled('app:1', 'b', 'arm64')],
      ...{ drift: false, class: 'none', note: /^possibly platform/ },
    },
    {
      name: 'I13 a second architecture, and a difference on the first',
      a: [pulled('app:1', 'a', 'amd64')],
      b: [pulled('app:1', 'c', 'amd64'), pulled('app:1', 'b', 'arm64')],
      ...{ drift: true, class: 'digest' },
    },
    {
      name: 'I15 D9 several tags in one cluster',
      a: ['app:1', 'app:2'],
      b: ['app:2'],
      ...{ drift: true, class: 'mixed' },
    },
    {
      name: 'I15 the same several tags in both',
      a: ['app:1', 'app:2'],
      b: ['app:2', 'app:1'],
      ...{ drift: false, class: 'mixed' },
    },
    {
      name: 'I32 variants of one repository by node',
      a: ['app:1', 'app:1-gpu'],
      b: ['app:1', 'app:1-gpu'],
      ...{ drift: false, class: 'mixed' },
    },
    {
      name: 'I29 with and without a v',
      a: ['app:1.2'],
      b: ['app:v1.2'],
      ...{ drift: true, class: 'tag', note: /^1\.2 and v1\.2 may be the same$/ },
    },
    {
      name: 'a common pinned image, and two tags beside it',
      a: [pinned('', 'a'), 'app:1'],
      b: [pinned('', 'a'), 'app:2'],
      ...{ drift: true, class: 'mixed' },
    },
    {
      name: 'a pinned image beside the tag it was pulled as',
      a: [pulled('app:1', 'a')],
      b: [pulled('app:1', 'a'), pinned('', 'a')],
      ...{ drift: false, class: 'mixed' },
    },
  ]
  test.each(cases)('$name', ({ a, b, note, ...expected }) => {
    const row = only({ a, b })
    expect({ drift: row.drift, class: row.class }).toEqual({
      drift: expected.drift,
      class: expected.class,
    })
    if (note) expect(row.notes.join('\n')).toMatch(note)
    else expect(row.notes.filter((text) => !text.startsWith('tags differ'))).toEqual([])
    // No side comes first.
    const turned = only({ a: b, b: a })
    expect({ drift: turned.drift, class: turned.class }).toEqual({
      drift: row.drift,
      class: row.class,
    })
  })
})

describe('the numbered tests', () => {
  test('D7 I24 drift is by repository; a repository of one cluster is presence only', () => {
    const found = compareImages(
      running({
        a: ['host:5000/team/app:1.2'],
        b: ['host:5000/team/app:1.3'],
        c: ['host:5000/other/app:9'],
      }),
    )
    expect(found).toMatchObject({ driftDetected: true, driftCount: 1 })
    const [other, app] = found.rows
    expect(other).toMatchObject({
      ...{ key: 'host:5000/other/app', drift: false, class: 'presence', missingFrom: ['a', 'b'] },
    })
    expect(app).toMatchObject({ key: 'host:5000/team/app', drift: true, missingFrom: ['c'] })
    expect(tokensOf(app!)).toEqual({ a: ['1.2'], b: ['1.3'] })
  })

  test('D8 I4 five spellings are one', () => {
    const row = only({
      a: ['nginx'],
      b: ['docker.io/library/nginx:latest'],
      c: ['index.docker.io/nginx'],
      d: ['docker.io/nginx'],
      e: ['nginx:latest'],
    })
    expect(row).toMatchObject({ key: 'docker.io/library/nginx', drift: false, class: 'none' })
  })

  test('D9 sets are compared, and the cluster with two is marked', () => {
    const row = only({ a: ['app:1', 'app:2'], b: ['app:2'] })
    expect(tokensOf(row)).toEqual({ a: ['1', '2'], b: ['2'] })
    expect(row.clusters.map(({ mixed }) => mixed)).toEqual([true, false])
    expect(row.drift).toBe(true)
  })

  test('D11 digests decide, tags are shown', () => {
    const found = compareImages(
      running({
        a: [pinned('1', 'a'), pinned('1', 'c').replace('app', 'tool')],
        b: [pinned('1', 'b'), pinned('2', 'c').replace('app', 'tool')],
      }),
    )
    expect(found.rows).toMatchObject([
      { key: 'docker.io/library/app', drift: true, class: 'digest' },
      {
        ...{ key: 'docker.io/library/tool', drift: false, class: 'none' },
        notes: ['tags differ, the digest is the same'],
        clusters: [{ tags: ['1'] }, { tags: ['2'] }],
      },
    ])
    expect(found.driftCount).toBe(1)
  })

  test('D14 what is no reference is reported, and is no drift', () => {
    const odd = ['Repo/APP:1', 'app:', '', 'ab'.repeat(32)]
    const found = compareImages(running({ a: odd, b: ['Repo/APP:2'] }))
    expect(found).toMatchObject({ driftDetected: false, driftCount: 0, rows: [] })
    expect(found.notComparable).toEqual([
      { image: '', reason: 'invalid', clusters: ['a'] },
      { image: 'Repo/APP:1', reason: 'invalid', clusters: ['a'] },
      { image: 'Repo/APP:2', reason: 'invalid', clusters: ['b'] },
      { image: 'ab'.repeat(32), reason: 'image-id', clusters: ['a'] },
      { image: 'app:', reason: 'invalid', clusters: ['a'] },
    ])
  })

  test('D17 no cluster is lost among many', () => {
    const names = Array.from({ length: 120 }, (_, i) => `c${String(i).padStart(3, '0')}`)
    const row = only(Object.fromEntries(names.map((name, i) => [name, [`app:${1 + (i % 2)}`]])))
    const groups = Map.groupBy(row.clusters, ({ tokens }) => tokens.join())
    expect([...groups].map(([token, uses]) => [token, uses.length])).toEqual([
      ['1', 60],
      ['2', 60],
    ])
    expect(row.clusters.map(({ cluster }) => cluster)).toEqual(names)
  })

  test('D18 against a baseline only those that differ are named', () => {
    const clusters = { a: ['app:1'], b: ['app:1'], c: ['app:2'] }
    const found = compareImages(running(clusters, { baseline: 'a', unknown: [unknown('d')] }))
    expect(found.rows).toMatchObject([{ drift: true, differsIn: ['c'] }])
    expect(found).toMatchObject({ baseline: 'a', driftCount: 1, unknown: [{ cluster: 'd' }] })
  })
})

describe('a baseline', () => {
  test('differences among the others are none of its own', () => {
    const clusters = { a: ['app:1'], b: ['tool:1'], c: ['tool:2'] }
    const found = compareImages(running(clusters, { baseline: 'a' }))
    expect(found.driftCount).toBe(0)
  })

  test('that is unknown is compared with nothing, and says so', () => {
    const clusters = { a: ['app:1'], b: ['app:2'] }
    const found = compareImages(running(clusters, { baseline: 'd', unknown: [unknown('d')] }))
    expect(found).toMatchObject({ driftDetected: false, comparable: 2 })
    expect(found.notes.join()).toContain('the baseline d is unknown')
  })
})

test('I31 one comparable cluster has nothing to differ from', () => {
  const found = compareImages(running({ a: ['app:1', 'app:2'] }, { unknown: [unknown('b')] }))
  expect(found).toMatchObject({ comparable: 1, driftDetected: false, driftCount: 0 })
  expect(found.notes.join()).toContain('fewer than two clusters')
})

test('I25 W4 an unknown cluster is on neither side', () => {
  const found = compareImages(running({ a: ['app:1'], b: ['app:1'] }, { unknown: [unknown('c')] }))
  expect(found.rows[0]).toMatchObject({ class: 'none', missingFrom: [] })
  expect(found.clusters).toEqual(['a', 'b'])
})

test('no cluster at all', () => {
  const found = compareImages(running({}, { unknown: [unknown('a')] }))
  expect(found).toMatchObject({ comparable: 0, observedAt: null, driftDetected: false, rows: [] })
})

describe('I30 who is behind', () => {
  test.each([
    ['the older version', { a: ['app:1.2.0'], b: ['app:1.10.0'] }, ['a']],
    ['a pre-release', { a: ['app:1.2.0-rc.2'], b: ['app:1.2.0'] }, ['a']],
    [
      'numbers in pre-releases are numbers',
      { a: ['app:1.0.0-rc.9'], b: ['app:1.0.0-rc.10'] },
      ['a'],
    ],
    ['with a v too', { a: ['app:v1.2.3'], b: ['app:v1.2.4'] }, ['a']],
    ['the newest of several counts', { a: ['app:1.0.0', 'app:3.0.0'], b: ['app:2.0.0'] }, ['b']],
    ['a word has no order', { a: ['app:stable'], b: ['app:1.2.4'] }, []],
    ['two numbers are no semantic version', { a: ['app:1.2'], b: ['app:1.3'] }, []],
  ])('%s', (_, clusters, behind) => {
    expect(only(clusters).behind).toEqual(behind)
  })
})

test('I23 mirrors are apart unless they are said to be one', () => {
  const clusters = { a: 'eu.example.com/x/app:1', b: 'us.example.com/x/app:2' }
  const rename = renameMirrors(new Map([['eu.example.com', 'us.example.com']]))
  const all = Object.entries(clusters).map(([name, image]) => {
    const inventory = new ImageInventory({ rename })
    inventory.add({ image, role: 'container' }, { namespace: 'x' })
    return seen(name, inventory)
  })
  const apart = compareImages(running({ a: [clusters.a], b: [clusters.b] }))
  expect(apart.rows.map((row) => row.class)).toEqual(['presence', 'presence'])
  const { rows } = compareImages({ seen: all, unknown: [] })
  expect(rows).toMatchObject([{ key: 'us.example.com/x/app', class: 'tag', drift: true }])
})

test('ignored images are left out', () => {
  const isIgnored = ignoring(['docker.io/library/*'])
  const found = compareImages(running({ a: ['app:1', 'x/y:1'], b: ['app:2', 'x/y:1'] }), {
    isIgnored,
  })
  expect(found.rows.map(({ key }) => key)).toEqual(['docker.io/x/y'])
  expect(found.driftDetected).toBe(false)
})
