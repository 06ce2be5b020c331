/** Rows put together: order, verdicts, text and JSON; and what must hold for any fleet. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type IssueName,
  POD_ISSUES,
  SEVERITIES,
  severityOf,
  WARNING_ISSUES,
  WORKLOAD_ISSUES,
} from '../../src/fleet/issue.ts'
import { type ClusterRow, identityOf, isRow, type Outcome, rowOf } from '../../src/fleet/outcome.ts'
import { renderText } from '../../src/fleet/render-text.ts'
import { makeReport, reportJson } from '../../src/fleet/report.ts'
import { judge, sweep, type Target, Unreachable } from '../../src/fleet/sweep.ts'
import { SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import { EXIT_CODE } from '../../src/fleet/verdict.ts'
import { CRASHING, rowFor, seen, shortRow } from './cluster.ts'

const schema = JSON.parse(
  readFileSync(new URL('../../src/fleet/schemas/fleet.json', import.meta.url), 'utf8'),
)
const isValid = new Ajv2020({ strict: false }).compile(schema)

function rowWith(
  context: string,
  issues: readonly IssueName[],
  blind: readonly SweptResource[] = [],
): ClusterRow {
  const findings = issues.map((issue) => ({
    issue,
    kind: 'Pod',
    namespace: 'n',
    name: 'x',
    reason: '',
  }))
  return rowOf({ context }, { findings, blindSpots: new Set(blind) }, 'critical')
}

const F25: readonly Outcome[] = [
  rowWith('dr', ['NoEndpoints', 'NoEndpoints']),
  { context: 'lab', reason: 'timed out' },
  rowWith('prod-a', ['ImagePullBackOff', 'OOMKilled', 'Degraded', 'ImagePullBackOff']),
  rowWith('prod-b', ['OOMKilled', 'NoEndpoints', 'NoEndpoints', 'NoEndpoints', 'NoEndpoints']),
  rowWith('qa', ['Unschedulable'], ['services', 'ingresses']),
]
const F25_TEXT = `FLEET  5 clusters, 2 failing, 1 unreachable

CLUSTER  VERDICT       CRIT  WARN  INFO  TOP ISSUES
lab      unreachable                     timed out
qa       inconclusive     1     0     0  Unschedulable (2 blind spots)
prod-a   fail             3     1     0  ImagePullBackOff, Degraded, OOMKilled
prod-b   fail             1     4     0  NoEndpoints, OOMKilled
dr       pass             0     2     0  NoEndpoints

SHARED ISSUES  in 2 or more of 4 judged clusters

  2/4  NoEndpoints  dr, prod-b
  2/4  OOMKilled    prod-a, prod-b

verdict: inconclusive (exit 2)
`

test('there are 45 kinds of issues', () => {
  const counts = [POD_ISSUES, WORKLOAD_ISSUES, WARNING_ISSUES].map(({ length }) => length)
  expect(counts).toEqual([16, 3, 26])
})

test('F1 a cluster without objects', () => {
  const document = JSON.parse(reportJson(makeReport([rowFor({})], 'critical')))
  expect(document).toEqual({
    schemaVersion: '1.2',
    verdict: 'pass',
    exitCode: 0,
    failOn: 'critical',
    clusters: [{ context: 'c', verdict: 'pass', critical: 0, warning: 0, info: 0, blindspots: 0 }],
    unreachable: [],
  })
})

test('F24 a refused read makes a row inconclusive, and sorts it first', () => {
  const clean = rowFor({ lists: CRASHING }, { context: 'a' })
  const refused = rowFor({ lists: CRASHING, refused: ['networkpolicies'] }, { context: 'b' })
  const report = makeReport([clean, refused], 'critical')
  expect(report.clusters.map(shortRow)).toEqual([
    'inconclusive 1/0/0 1 [CrashLoopBackOff]',
    'fail 1/0/0 0 [CrashLoopBackOff]',
  ])
  expect(report).toMatchObject({ verdict: 'inconclusive', exitCode: 2 })
  expect(renderText(report)).toContain('CrashLoopBackOff (1 blind spot)\n')
  expect(report.shared).toEqual([
    { signal: 'CrashLoopBackOff', source: 'issue', clusters: ['a', 'b'] },
  ])
  expect(renderText(report)).not.toContain('SHARED BLIND SPOTS')
})

test('F25 the published example, byte for byte', () => {
  const report = makeReport(F25, 'critical')
  expect(renderText(report)).toBe(F25_TEXT)
  expect(JSON.parse(reportJson(report))).toMatchObject({
    exitCode: 2,
    unreachable: [{ context: 'lab', reason: 'timed out' }],
  })
})

test('many clusters share blind spots and issues', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const text = renderText(
    makeReport(
      names.map((name) => rowWith(name, ['near'], ['services'])),
      'critical',
    ),
  )
  expect(text).toContain(`
SHARED ISSUES  in 2 or more of 5 judged clusters

  5/5  near      a, b, c, +2 more

SHARED BLIND SPOTS  in 2 or more of 5 judged clusters

  5/5  services  a, b, c, +2 more

verdict: inconclusive (exit 2)
`)
})

test('a name that would move the cursor is printed without that', () => {
  const text = renderText(makeReport([rowFor({}, { context: 'a\x1b[2J\u202eb' })], 'critical'))
  expect(text).toContain('\na[2Jb ')
})

const name = fc.stringMatching(/^[a-z]{1,6}$/)
const issue = fc.constantFrom<IssueName>(
  ...POD_ISSUES,
  ...WORKLOAD_ISSUES,
  ...WARNING_ISSUES,
  'NodeCordoned',
)
const row = fc
  .tuple(
    name,
    fc.array(issue, { maxLength: 6 }),
    fc.subarray([...SWEPT_RESOURCES], { maxLength: 2 }),
  )
  .map(([context, issues, blind]) => rowWith(context, issues, blind))
const lost = fc
  .tuple(name, fc.constantFrom('timed out' as const, 'connecting to the cluster' as const))
  .map(([context, reason]) => ({ context, reason }))
const fleet = fc.uniqueArray(fc.oneof(row, lost), { selector: identityOf, maxLength: 12 })

describe('for any fleet', () => {
  test('the report is the same in whatever order clusters are done', () => {
    fc.assert(
      fc.property(fleet, fc.infiniteStream(fc.nat()), (outcomes, random) => {
        const text = reportJson(makeReport(outcomes, 'warning'))
        for (let i = 0; i < 50; i++) {
          const shuffled = outcomes
            .map((one) => [random.next().value, one] as const)
            .sort(([a], [b]) => a - b)
          expect(
            reportJson(
              makeReport(
                shuffled.map(([, one]) => one),
                'warning',
              ),
            ),
          ).toBe(text)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('the JSON is valid, and verdict and exit code go together', () => {
    fc.assert(
      fc.property(fleet, fc.constantFrom(...SEVERITIES), (outcomes, failOn) => {
        const document = JSON.parse(reportJson(makeReport(outcomes, failOn)))
        expect(isValid(document), JSON.stringify(isValid.errors)).toBe(true)
        expect(document.exitCode).toBe(EXIT_CODE[document.verdict as keyof typeof EXIT_CODE])
        expect(document.clusters.length + document.unreachable.length).toBe(outcomes.length)
      }),
    )
  })

  test('how often a cluster has an issue does not matter to what is shared', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.array(issue)), { selector: ([context]) => context }),
        (clusters) => {
          const once = clusters.map(([context, issues]) => rowWith(context, issues))
          const often = clusters.map(([context, issues]) =>
            rowWith(context, [...issues, ...issues]),
          )
          expect(makeReport(often, 'critical').shared).toEqual(makeReport(once, 'critical').shared)
        },
      ),
    )
  })

  test('a cluster out of reach changes nothing about the others', () => {
    fc.assert(
      fc.property(fleet, (outcomes) => {
        const before = makeReport(outcomes.filter(isRow), 'critical')
        const after = makeReport(
          [...outcomes.filter(isRow), { context: 'ZZ', reason: 'timed out' }],
          'critical',
        )
        expect(after.shared).toEqual(before.shared)
        expect(after.clusters).toEqual(before.clusters)
        expect(after.verdict).toBe('inconclusive')
      }),
    )
  })

  test('counts cover the top issues', () => {
    fc.assert(
      fc.property(row, ({ critical, warning, info, topIssues }) => {
        expect(critical + warning + info).toBeGreaterThanOrEqual(topIssues.length)
        for (const one of topIssues) expect(SEVERITIES).toContain(severityOf(one))
      }),
    )
  })
})

test('no name of an object leaves a trace in a report', () => {
  const marked = JSON.parse(JSON.stringify(CRASHING).replaceAll(/web|default|app\b/g, 'MARKER'))
  const report = makeReport([rowFor({ lists: marked })], 'critical')
  expect(shortRow(report.clusters[0]!)).toBe('fail 1/0/0 0 [CrashLoopBackOff]')
  expect(renderText(report) + reportJson(report)).not.toContain('MARKER')
})

describe('the sweep', () => {
  const target = (context: string, observe: Target['observe']): Target => ({ context, observe })

  test('has one row for each cluster, whatever happens, and a bounded number at once', async () => {
    let now = 0
    let most = 0
    const busy = target('x', async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 1))
      now--
      return seen({ lists: CRASHING })
    })
    const targets = [
      target('broken', () => Promise.reject(new Error('https://10.0.0.1/secret'))),
      target('slow', () => Promise.reject(new Unreachable('timed out'))),
      ...Array.from({ length: 30 }, (_, i) => ({ ...busy, context: `x-${i}` })),
    ]
    const outcomes = await sweep(targets, { failOn: 'critical', workers: 5 })
    expect(outcomes.map(({ context }) => context)).toEqual(targets.map(({ context }) => context))
    expect(outcomes.slice(0, 2)).toEqual([
      { context: 'broken', reason: 'connecting to the cluster' },
      { context: 'slow', reason: 'timed out' },
    ])
    expect(most).toBe(5)
  })

  test.each([
    [0, 1],
    [-3, 1],
    [500, 64],
  ])('F28 %i workers are %i', async (workers, atOnce) => {
    let now = 0
    let most = 0
    const observe = async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 1))
      now--
      return seen({})
    }
    const targets = Array.from({ length: 80 }, (_, i) => target(`c-${i}`, observe))
    await sweep(targets, { failOn: 'critical', workers })
    expect(most).toBe(atOnce)
  })

  test('F26 names of a fleet file, and the same clusters without', () => {
    const isBroken = (one: string) => ['edge-b', 'edge-d'].includes(one)
    const names = ['edge-d', 'edge-b', 'edge-c', 'edge-a']
    const rows = names.map((name) =>
      rowOf(
        { context: 'default', name },
        judge(seen(isBroken(name) ? { lists: CRASHING } : {})),
        'critical',
      ),
    )
    const report = makeReport(rows, 'critical')
    expect(report.clusters.map(({ name }) => name)).toEqual([
      'edge-b',
      'edge-d',
      'edge-a',
      'edge-c',
    ])
    expect(report.shared[0]?.clusters).toEqual(['edge-b', 'edge-d'])
    const plain = makeReport(
      names.map((context) =>
        rowOf({ context }, judge(seen(isBroken(context) ? { lists: CRASHING } : {})), 'critical'),
      ),
      'critical',
    )
    expect(plain.clusters.map(shortRow)).toEqual(report.clusters.map(shortRow))
    expect(plain.clusters.every((one) => !('name' in one))).toBe(true)
  })
})
