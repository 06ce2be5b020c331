import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type LabelRequirement,
  matchesLabels,
  parseLabelSelector,
} from '../../src/kube/label-selector.ts'
import { StatusError } from '../../src/kube/status-error.ts'
import { formatLabelSelector } from './format-selectors.ts'

describe('what is understood', () => {
  const cases: ReadonlyArray<{ text: string; want: readonly LabelRequirement[] }> = [
    { text: '', want: [] },
    { text: '  ', want: [] },
    { text: 'a=b', want: [{ key: 'a', operator: 'In', values: ['b'] }] },
    { text: 'a==b', want: [{ key: 'a', operator: 'In', values: ['b'] }] },
    { text: ' a = b ', want: [{ key: 'a', operator: 'In', values: ['b'] }] },
    { text: 'a!=b', want: [{ key: 'a', operator: 'NotIn', values: ['b'] }] },
    { text: 'a=', want: [{ key: 'a', operator: 'In', values: [''] }] },
    {
      text: 'a=,b',
      want: [
        { key: 'a', operator: 'In', values: [''] },
        { key: 'b', operator: 'Exists' },
      ],
    },
    { text: 'a in (y,x,y)', want: [{ key: 'a', operator: 'In', values: ['y', 'x'] }] },
    { text: 'a in(x)', want: [{ key: 'a', operator: 'In', values: ['x'] }] },
    { text: 'a in (,)', want: [{ key: 'a', operator: 'In', values: [''] }] },
    { text: 'a in (x,,y)', want: [{ key: 'a', operator: 'In', values: ['x', '', 'y'] }] },
    { text: 'a notin (x,)', want: [{ key: 'a', operator: 'NotIn', values: ['x', ''] }] },
    { text: 'in in (in,notin)', want: [{ key: 'in', operator: 'In', values: ['in', 'notin'] }] },
    { text: 'notin', want: [{ key: 'notin', operator: 'Exists' }] },
    { text: '! a', want: [{ key: 'a', operator: 'DoesNotExist' }] },
    { text: 'a > 5', want: [{ key: 'a', operator: 'Gt', value: 5n }] },
    { text: 'a<9007199254740993', want: [{ key: 'a', operator: 'Lt', value: 9007199254740993n }] },
    {
      text: 'example.com/role in (a, b),!old\n,x_y.z',
      want: [
        { key: 'example.com/role', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
        { key: 'x_y.z', operator: 'Exists' },
      ],
    },
  ]
  for (const { text, want } of cases) {
    test(JSON.stringify(text), () => expect(parseLabelSelector(text)).toEqual(want))
  }
})

const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

describe('what is refused, in the words of a real API server', () => {
  const inRequirement = (message: string) => `unable to parse requirement: ${message}`
  const long = 'x'.repeat(64)
  const cases: ReadonlyArray<{ text: string; message: string }> = [
    // The first two are recorded: test/recorded/responses.json.
    { text: '-bad=x', message: inRequirement(`<nil>: Invalid value: "-bad": ${NAME_RULE}`) },
    {
      text: `a=${long}`,
      message: inRequirement(
        `values[0][a]: Invalid value: "${long}": must be no more than 63 bytes`,
      ),
    },
    { text: '=a', message: "found '=', expected: !, identifier, or 'end of string'" },
    { text: ',a', message: "found ',', expected: !, identifier, or 'end of string'" },
    { text: '===', message: "found '==', expected: !, identifier, or 'end of string'" },
    { text: 'a=b,', message: "found '', expected: identifier after ','" },
    { text: 'a,,b', message: "found ',', expected: identifier after ','" },
    { text: 'a=b c', message: "found 'c', expected: ',' or 'end of string'" },
    { text: '!a=b', message: "found '=', expected: ',' or 'end of string'" },
    { text: '!', message: inRequirement("found '', expected: identifier") },
    { text: '!!a', message: inRequirement("found '!', expected: identifier") },
    { text: 'a b', message: inRequirement("found 'b', expected: in, notin, =, ==, !=, gt, lt") },
    { text: 'a=!', message: inRequirement("found '!', expected: identifier") },
    { text: 'a in x', message: inRequirement("found 'x' expected: '('") },
    { text: 'a in', message: inRequirement("found '' expected: '('") },
    { text: 'a in (', message: inRequirement("found '', expected: ',', ')' or identifier") },
    { text: 'a in (b', message: inRequirement("found '', expected: ',' or ')'") },
    { text: 'a in (b,', message: inRequirement("found '', expected: ',', or identifier") },
    { text: 'a in (b c)', message: inRequirement("found 'c', expected: ',' or ')'") },
    {
      text: 'a in ()',
      message: inRequirement(
        "values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty",
      ),
    },
    {
      text: 'a>x',
      message: inRequirement(
        "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
      ),
    },
    {
      text: 'a>9223372036854775808',
      message: inRequirement(
        "values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
      ),
    },
    { text: 'a=b@c', message: inRequirement(`values[0][a]: Invalid value: "b@c": ${VALUE_RULE}`) },
    {
      text: 'a in (+,b,@)',
      message: inRequirement(
        `[values[0][a]: Invalid value: "+": ${VALUE_RULE}, values[1][a]: Invalid value: "@": ${VALUE_RULE}]`,
      ),
    },
    {
      text: '/a=b',
      message: inRequirement('<nil>: Invalid value: "/a": prefix part must be non-empty'),
    },
    {
      text: 'a/=b',
      message: inRequirement(
        `<nil>: Invalid value: "a/": name part must be non-empty; ${NAME_RULE}`,
      ),
    },
    {
      text: 'A.com/b',
      message: inRequirement(
        "<nil>: Invalid value: \"A.com/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ),
    },
  ]
  for (const { text, message } of cases) {
    test(JSON.stringify(text), () => {
      expect(() => parseLabelSelector(text)).toThrow(new StatusError('BadRequest', message))
    })
  }
})

describe('which labels are selected', () => {
  const labels = { app: 'web', tier: '', size: '12', odd: '12x' }
  const cases: ReadonlyArray<{ text: string; selected: boolean }> = [
    { text: '', selected: true },
    { text: 'app=web', selected: true },
    { text: 'app=db', selected: false },
    { text: 'app in (db,web),tier', selected: true },
    { text: 'app!=web', selected: false },
    { text: 'missing!=web', selected: true },
    { text: 'missing notin (web)', selected: true },
    { text: 'missing=', selected: false },
    { text: 'tier=', selected: true },
    { text: '!missing', selected: true },
    { text: '!tier', selected: false },
    { text: 'size>11', selected: true },
    { text: 'size<12', selected: false },
    { text: 'odd>1', selected: false },
    { text: 'missing<5', selected: false },
    { text: 'toString', selected: false },
  ]
  for (const { text, selected } of cases) {
    test(`${JSON.stringify(text)}: ${selected}`, () => {
      expect(matchesLabels(parseLabelSelector(text), labels)).toBe(selected)
    })
  }
})

describe('formatting', () => {
  const key = fc.constantFrom('a', 'in', 'notin', 'example.com/role', 'x_Y.z-1')
  const value = fc.stringMatching(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?)?$/)
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 4 })
  const int64 = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })
  const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('In' as const, 'NotIn' as const), values }),
    fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
    fc.record({ key, operator: fc.constantFrom('Gt' as const, 'Lt' as const), value: int64 }),
  )

  test('what was formatted parses back', () => {
    fc.assert(
      fc.property(fc.array(requirement), (requirements) => {
        expect(parseLabelSelector(formatLabelSelector(requirements))).toEqual(requirements)
      }),
    )
  })

  test('any text either parses or is refused with a Status', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab-/.=!<>(), \0in') }), (text) => {
        try {
          parseLabelSelector(text)
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError)
        }
      }),
    )
  })
})
