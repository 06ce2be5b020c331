import { describe, expect, test } from 'vitest'
import {
  type AdditionalPrinterColumn,
  customResourcePrinter,
} from '../../src/printers/custom-resource.ts'
import { NOW, printedAt } from './print.ts'

describe('a value and the type of its column', () => {
  test.each<[string, string, unknown, unknown]>([
    ['integer', 'integer', 3, 3],
    ['integer beyond 2^53', 'integer', 9223372036854775807n, 9223372036854775807n],
    ['integer of a fraction', 'integer', -1.9, -1],
    ['integer of a text', 'integer', '3', null],
    ['integer of a boolean', 'integer', true, null],
    ['number', 'number', 1.5, 1.5],
    ['number of an integer', 'number', 3, 3],
    ['number of a large integer', 'number', 1152921504606846977n, 1152921504606847000n],
    ['number of a text', 'number', '1.5', null],
    ['boolean', 'boolean', false, false],
    ['boolean of a text', 'boolean', 'true', null],
    ['string', 'string', 'x', 'x'],
    ['string that is empty', 'string', '', ''],
    ['string of an integer', 'string', 42, '42'],
    ['string of an integer beyond 2^53', 'string', 9007199254740993n, '9007199254740993'],
    ['string of a fraction', 'string', 1.5, '1.5'],
    ['string of a small fraction', 'string', 0.00001, '1e-05'],
    ['string of a large fraction', 'string', 1234567.5, '1.2345675e+06'],
    ['string of a huge number', 'string', 1e30, '1e+30'],
    ['string of a boolean', 'string', true, 'true'],
    ['string of null', 'string', null, '<no value>'],
    ['string of a list', 'string', ['a', 1, null], '["a",1,null]'],
    [
      'string of an object',
      'string',
      { b: '<&>', a: { c: 9007199254740993n } },
      '{"a":{"c":9007199254740993},"b":"\\u003c\\u0026\\u003e"}',
    ],
    ['date', 'date', '2026-01-01T23:55:00Z', '5m'],
    ['date with a fraction', 'date', '2026-01-01T23:55:00.5Z', '4m59s'],
    ['date to come', 'date', '2027-01-01T00:00:00Z', '<invalid>'],
    ['date that is none', 'date', 'yesterday', '<invalid>'],
    ['date of an impossible day', 'date', '2026-02-30T00:00:00Z', '<invalid>'],
    ['date that is empty', 'date', '', '<unknown>'],
    ['date that says null', 'date', 'null', '<unknown>'],
    ['date of Go’s zero time', 'date', '0001-01-01T00:00:00Z', '<unknown>'],
    ['date of a number', 'date', 5, null],
    ['a type that is none', 'array', 'x', null],
    ...['integer', 'number', 'boolean', 'date'].map(
      (type) => [`${type} of null`, type, null, null] as [string, string, unknown, unknown],
    ),
    ...['integer', 'number', 'boolean', 'date', 'string'].map(
      (type) =>
        [`${type} that is not there`, type, undefined, null] as [string, string, unknown, unknown],
    ),
  ])('%s', (...[, type, value, printed]) => {
    const object = value === undefined ? {} : { v: value }
    const printer = customResourcePrinter([{ name: 'V', type, jsonPath: '.v' }])
    const { cells } = printedAt(NOW, printer, object)
    expect(cells[1]).toEqual(printed)
  })
})

describe('columns', () => {
  const names = (columns: readonly AdditionalPrinterColumn[]) =>
    customResourcePrinter(columns).columns.map(({ name }) => name)
  const column = (name: string, jsonPath: string) => ({ name, type: 'string', jsonPath })

  test('none given: Name and Age', () => {
    const printer = customResourcePrinter([])
    expect(printer.columns.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ])
    const metadata = { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' }
    expect(printedAt(NOW, printer, { metadata })).toEqual({ cells: ['x', '24h'] })
  })

  test('all that a column can say', () => {
    const given = { name: 'V', type: 'integer', format: 'int32', description: 'd', priority: 1 }
    const printer = customResourcePrinter([{ ...given, jsonPath: '.v' }])
    expect(printer.columns[1]).toEqual(given)
  })

  test('little said', () => {
    const printer = customResourcePrinter([{ name: 'V', type: 'string', jsonPath: '.v' }])
    expect(printer.columns[1]).toEqual({
      name: 'V',
      type: 'string',
      format: '',
      description: 'Custom resource definition column (in JSONPath format): .v',
      priority: 0,
    })
  })

  test('v1beta1 spells it JSONPath', () => {
    const printer = customResourcePrinter([{ name: 'V', type: 'string', JSONPath: '.v' }])
    expect(printedAt(NOW, printer, { metadata: { name: 'x' }, v: 'y' }).cells).toEqual(['x', 'y'])
  })

  test('the first column without a meaning ends the table', () => {
    expect(names([column('A', '.a'), column('B', '.b['), column('C', '.c')])).toEqual(['Name', 'A'])
  })

  test('a path that finds several values prints the first', () => {
    const printer = customResourcePrinter([column('V', '.list[*]')])
    expect(printedAt(NOW, printer, { list: ['a', 'b'] }).cells).toEqual(['', 'a'])
  })

  test('a number that the path itself names', () => {
    const printer = customResourcePrinter([column('V', '.list 1.50'), column('W', '.list 2')])
    expect(printedAt(NOW, printer, { list: ['a'] }).cells).toEqual(['', '1.5', '2'])
  })

  test('a path that meets an error prints null', () => {
    const printer = customResourcePrinter([column('V', '.list[5]'), column('W', '.list[0]')])
    expect(printedAt(NOW, printer, { list: ['a'] }).cells).toEqual(['', null, 'a'])
  })
})
