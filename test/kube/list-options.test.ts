import { describe, expect, test } from 'vitest'
import { parseListOptions } from '../../src/kube/list-options.ts'

const NONE = { labelSelector: '', fieldSelector: '', watch: false }

describe('what is understood', () => {
  const cases: ReadonlyArray<{ readonly query: string; readonly want: object }> = [
    { query: '', want: NONE },
    { query: 'limit=500', want: { ...NONE, limit: 500 } },
    { query: 'limit=', want: NONE },
    { query: 'limit=0', want: NONE },
    { query: 'limit=-1', want: NONE },
    { query: 'limit=%2B7', want: { ...NONE, limit: 7 } },
    { query: 'continue=abc&resourceVersion=', want: { ...NONE, continue: 'abc' } },
    {
      query: 'continue=abc&resourceVersion=0',
      want: { ...NONE, continue: 'abc', resourceVersion: 0n },
    },
    {
      query: 'resourceVersion=18446744073709551615',
      want: { ...NONE, resourceVersion: 2n ** 64n - 1n },
    },
    {
      query: 'resourceVersion=5&resourceVersionMatch=NotOlderThan',
      want: { ...NONE, resourceVersion: 5n, resourceVersionMatch: 'NotOlderThan' },
    },
    { query: 'watch', want: { ...NONE, watch: true } },
    { query: 'watch=false', want: NONE },
    { query: 'watch=0', want: NONE },
    { query: 'watch=no', want: { ...NONE, watch: true } },
    { query: 'timeoutSeconds=30', want: { ...NONE, timeoutSeconds: 30 } },
    {
      query: 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
      want: { ...NONE, watch: true, resourceVersionMatch: 'NotOlderThan' },
    },
    {
      query: 'labelSelector=a%20in%20(b,c)&fieldSelector=x%3Dy',
      want: { ...NONE, labelSelector: 'a in (b,c)', fieldSelector: 'x=y' },
    },
  ]
  for (const { query, want } of cases) {
    test(query || 'nothing', () => {
      expect(parseListOptions(new URLSearchParams(query))).toEqual(want)
    })
  }
})

describe('what is refused', () => {
  const invalid = (message: string) => `ListOptions.meta.k8s.io "" is invalid: ${message}`
  const cases: ReadonlyArray<{
    readonly query: string
    readonly reason: string
    readonly message: string
    readonly causes?: readonly string[]
  }> = [
    {
      query: 'timeoutSeconds=x',
      reason: 'BadRequest',
      message: 'strconv.ParseInt: parsing "x": invalid syntax',
    },
    {
      query: 'limit=1.5',
      reason: 'BadRequest',
      message: 'strconv.ParseInt: parsing "1.5": invalid syntax',
    },
    {
      query: 'limit=99999999999999999999',
      reason: 'BadRequest',
      message: 'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    },
    {
      query: 'resourceVersion=18446744073709551616',
      reason: 'BadRequest',
      message:
        'resourceVersion: Invalid value: "18446744073709551616": strconv.ParseUint: parsing "18446744073709551616": invalid syntax',
    },
    {
      query: 'continue=abc&resourceVersion=5',
      reason: 'BadRequest',
      message: 'specifying resource version is not allowed when using continue',
    },
    {
      query: 'resourceVersionMatch=Exact',
      reason: 'Invalid',
      message: invalid(
        'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
      causes: ['FieldValueForbidden'],
    },
    {
      query: 'resourceVersionMatch=Newest&resourceVersion=1',
      reason: 'Invalid',
      message: invalid(
        'resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
      ),
      causes: ['FieldValueNotSupported'],
    },
    {
      query: 'resourceVersionMatch=Exact&resourceVersion=0&continue=a',
      reason: 'Invalid',
      message: invalid(
        '[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided, resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"]',
      ),
      causes: ['FieldValueForbidden', 'FieldValueForbidden'],
    },
    {
      query: 'sendInitialEvents=true',
      reason: 'Invalid',
      message: invalid('sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'),
      causes: ['FieldValueForbidden'],
    },
    {
      query: 'watch=1&resourceVersionMatch=NotOlderThan',
      reason: 'Invalid',
      message: invalid(
        'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
      causes: ['FieldValueForbidden'],
    },
    {
      query: 'watch=1&sendInitialEvents=true',
      reason: 'Invalid',
      message: invalid(
        'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
      causes: ['FieldValueForbidden'],
    },
  ]
  for (const { query, reason, message, causes } of cases) {
    test(query, () => {
      const details = causes && { causes: causes.map((cause) => ({ reason: cause })) }
      expect(() => parseListOptions(new URLSearchParams(query))).toThrow(
        expect.objectContaining({
          reason,
          message,
          ...(details && {
            details: expect.objectContaining({
              causes: details.causes.map((cause) => expect.objectContaining(cause)),
            }),
          }),
        }),
      )
    })
  }
})
