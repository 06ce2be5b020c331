import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ComparisonOperator,
  type FieldPath,
  type FieldRequirement,
  formatFieldPath,
  parseFieldPath,
  parseFieldSelector,
} from '../../src/kube/field-selector.ts'
import { parsePlainFieldSelector } from '../../src/kube/plain-field-selector.ts'
import { StatusError } from '../../src/kube/status-error.ts'
import { formatFieldSelector } from './format-selectors.ts'

const path = (...steps: ReadonlyArray<string | number | true>): FieldPath =>
  steps.map((step) => {
    if (step === true) return { every: true }
    return typeof step === 'number' ? { index: step } : { key: step }
  })
const is = (of: FieldPath, ...values: string[]): FieldRequirement => ({
  path: of,
  operator: 'In',
  values,
})
const isNot = (of: FieldPath, ...values: string[]): FieldRequirement => ({
  path: of,
  operator: 'NotIn',
  values,
})

const than = (of: FieldPath, operator: ComparisonOperator, value: string): FieldRequirement => ({
  ...{ path: of, operator, value },
})

const phase = path('status', 'phase')

describe('what is understood', () => {
  const cases: ReadonlyArray<{ text: string; want: readonly FieldRequirement[] }> = [
    { text: '', want: [] },
    { text: 'status.phase=Running', want: [is(phase, 'Running')] },
    { text: '.status.phase==Running', want: [is(phase, 'Running')] },
    { text: 'status.phase != Running', want: [isNot(phase, 'Running')] },
    { text: "status['phase']!=Running", want: [isNot(phase, 'Running')] },
    { text: 'status["phase"] in (Running)', want: [is(phase, 'Running')] },
    {
      text: '.status.phase notin (Running,Succeeded)',
      want: [isNot(phase, 'Running', 'Succeeded')],
    },
    { text: 'status.phase in(a , b)', want: [is(phase, 'a', 'b')] },
    { text: 'status.phase in (\'a,b\', "c d",)', want: [is(phase, 'a,b', 'c d', '')] },
    {
      text: "metadata.annotations['test.io/a'] in (x,y)",
      want: [is(path('metadata', 'annotations', 'test.io/a'), 'x', 'y')],
    },
    {
      text: 'metadata.annotations.test\\.io/a=x',
      want: [is(path('metadata', 'annotations', 'test.io/a'), 'x')],
    },
    {
      text: 'spec.containers[].name=main',
      want: [is(path('spec', 'containers', true, 'name'), 'main')],
    },
    {
      text: 'spec.containers[*].name=main',
      want: [is(path('spec', 'containers', true, 'name'), 'main')],
    },
    {
      text: 'spec.containers[1].name in (a,b)',
      want: [is(path('spec', 'containers', 1, 'name'), 'a', 'b')],
    },
    { text: 'spec.args[][0]=x', want: [is(path('spec', 'args', true, 0), 'x')] },
    { text: 'status.phase', want: [{ path: phase, operator: 'Exists' }] },
    { text: '!status.phase', want: [{ path: phase, operator: 'DoesNotExist' }] },
    {
      text: '! status.phase , spec.x',
      want: [
        { path: phase, operator: 'DoesNotExist' },
        { path: path('spec', 'x'), operator: 'Exists' },
      ],
    },
    { text: 'spec.replicas>3', want: [than(path('spec', 'replicas'), 'Gt', '3')] },
    { text: 'spec.replicas >= 3', want: [than(path('spec', 'replicas'), 'Gte', '3')] },
    {
      text: 'a<900m,b<=1Gi,c=x',
      want: [than(path('a'), 'Lt', '900m'), than(path('b'), 'Lte', '1Gi'), is(path('c'), 'x')],
    },
    {
      text: "status.startTime>='2024-01-01T00:00:00Z'",
      want: [than(path('status', 'startTime'), 'Gte', '2024-01-01T00:00:00Z')],
    },
    {
      text: "metadata.annotations['a>b']>-1.5e3",
      want: [than(path('metadata', 'annotations', 'a>b'), 'Gt', '-1.5e3')],
    },
    { text: 'spec.nodeName=', want: [is(path('spec', 'nodeName'), '')] },
    { text: "spec.nodeName=''", want: [is(path('spec', 'nodeName'), '')] },
    { text: 'in in (in)', want: [is(path('in'), 'in')] },
    {
      text: 'involvedObject.fieldPath=spec.containers{web}',
      want: [is(path('involvedObject', 'fieldPath'), 'spec.containers{web}')],
    },
    { text: 'message=two words (really)', want: [is(path('message'), 'two words (really)')] },
    {
      text: 'message=a\\,b\\=c\\\\d,reason=x',
      want: [is(path('message'), 'a,b=c\\d'), is(path('reason'), 'x')],
    },
    { text: "message='it\\'s'", want: [is(path('message'), "it's")] },
    {
      // What `kubectl describe pod` sends.
      text: 'involvedObject.name=run-ok,involvedObject.namespace=shop,involvedObject.kind=Pod,involvedObject.uid=29ee6bd2',
      want: [
        is(path('involvedObject', 'name'), 'run-ok'),
        is(path('involvedObject', 'namespace'), 'shop'),
        is(path('involvedObject', 'kind'), 'Pod'),
        is(path('involvedObject', 'uid'), '29ee6bd2'),
      ],
    },
    { text: ',metadata.name=a,,', want: [is(path('metadata', 'name'), 'a')] },
  ]
  for (const { text, want } of cases) {
    test(JSON.stringify(text), () => expect(parseFieldSelector(text)).toEqual(want))
  }
})

describe('what is refused', () => {
  const COMPARED =
    'what is compared with must be a number, a quantity (900m, 1Gi) or a time (2006-01-02, 2006-01-02 15:04:05, RFC 3339)'
  const cases: ReadonlyArray<{ text: string; term?: string; why?: string }> = [
    { text: '=x', why: 'a field name is missing' },
    { text: 'a.=x', why: 'a field name is missing' },
    { text: 'a..b=x', why: 'a field name is missing' },
    { text: 'status phase' },
    { text: 'a=b=c' },
    { text: 'a>', why: COMPARED },
    { text: 'a>=x', why: COMPARED },
    { text: 'a<true', why: COMPARED },
    { text: 'a>>1', why: COMPARED },
    { text: 'a>2024-02-30', why: COMPARED },
    { text: 'a>1 2', why: COMPARED },
    { text: '>1', why: 'a field name is missing' },
    { text: '!a>1' },
    { text: 'a=b,status phase', term: 'status phase' },
    { text: "a='b'c" },
    { text: 'a\\q=b' },
    { text: 'a=b\\q' },
    { text: 'a in x', why: "'(' is missing" },
    { text: 'a in (x', why: "')' is missing" },
    { text: 'a in (x y)', why: "')' is missing" },
    { text: 'a[x]=1', why: "in brackets there may be nothing, an index, or a 'key'" },
    { text: "a['x=1", why: "in brackets there may be nothing, an index, or a 'key'" },
    { text: 'a[-1]=1', why: "in brackets there may be nothing, an index, or a 'key'" },
    { text: '!a=b' },
    { text: '!', why: 'a field name is missing' },
  ]
  for (const { text, term = text, why } of cases) {
    test(JSON.stringify(text), () => {
      const message = `invalid selector: '${text}'; can't understand '${term}'${why ? `: ${why}` : ''}`
      expect(() => parseFieldSelector(text)).toThrow(new StatusError('BadRequest', message))
    })
  }
})

test('a path that is part of something longer is refused', () => {
  expect(parseFieldPath(" status['a.b'] ")).toEqual(path('status', 'a.b'))
  expect(() => parseFieldPath('a=b')).toThrow(StatusError)
})

describe('formatting', () => {
  const step = fc.oneof(
    fc.record({ key: fc.oneof(fc.constantFrom('spec', 'in', "it's", 'a.b/c', '\\'), fc.string()) }),
    fc.record({ index: fc.nat(1000) }),
    fc.constant({ every: true as const }),
  )
  const steps = fc
    .tuple(fc.record({ key: fc.string({ minLength: 1 }) }), fc.array(step, { maxLength: 4 }))
    .map(([first, rest]): FieldPath => [first, ...rest])
  const requirement: fc.Arbitrary<FieldRequirement> = fc.oneof(
    fc.record({
      path: steps,
      operator: fc.constantFrom('In' as const, 'NotIn' as const),
      values: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      path: steps,
      operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
    }),
    fc.record({
      path: steps,
      operator: fc.constantFrom('Gt' as const, 'Gte' as const, 'Lt' as const, 'Lte' as const),
      value: fc.constantFrom('3', '-1.5e3', '900m', '2024-01-01T00:00:00Z', '2024-01-01 00:00:00'),
    }),
  )

  test('what was formatted parses back', () => {
    fc.assert(
      fc.property(fc.array(requirement), (requirements) => {
        expect(parseFieldSelector(formatFieldSelector(requirements))).toEqual(requirements)
      }),
    )
  })

  test('a path that was formatted parses back', () => {
    fc.assert(
      fc.property(steps, (of) => {
        expect(parseFieldPath(formatFieldPath(of))).toEqual(of)
      }),
    )
  })
})

describe('the plain form of a real API server', () => {
  const supported = ['metadata.name']
  test('is read', () => {
    expect(parsePlainFieldSelector('metadata.name=a,,metadata.name!=b\\,c', supported)).toEqual([
      { field: 'metadata.name', operator: '=', value: 'a' },
      { field: 'metadata.name', operator: '!=', value: 'b,c' },
    ])
  })
  const cases: ReadonlyArray<{ text: string; message: string }> = [
    { text: 'spec.bogus=1', message: 'field label not supported: spec.bogus' },
    {
      text: 'status.phase',
      message: "invalid selector: 'status.phase'; can't understand 'status.phase'",
    },
    {
      text: 'metadata.name=a=b',
      message: 'invalid field selector: unescaped character in value: 61',
    },
    { text: 'metadata.name=a\\b', message: 'invalid field selector: invalid escape sequence: \\b' },
  ]
  for (const { text, message } of cases) {
    test(`refuses ${text}`, () => {
      expect(() => parsePlainFieldSelector(text, supported)).toThrow(
        new StatusError('BadRequest', message),
      )
    })
  }
})
