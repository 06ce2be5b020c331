import { describe, expect, test } from 'vitest'
import { ConfigError, parseConfig, SETTINGS, type Setting, variableOf } from '../../src/config.ts'

const NONE = { environment: {} }
const ALL = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]

describe('where a setting comes from', () => {
  const cases = [
    { name: 'nowhere: the default', flag: undefined, variable: undefined, want: 8443 },
    { name: 'its variable', flag: undefined, variable: '127.0.0.1:1', want: 1 },
    { name: 'its flag, which wins', flag: '127.0.0.1:2', variable: '127.0.0.1:1', want: 2 },
  ]
  test.each(cases)('$name', ({ flag, variable, want }) => {
    const config = parseConfig(
      ['listen'],
      { listen: flag },
      { environment: { FLEETGLASS_LISTEN: variable } },
    )
    expect(config.listen.port).toBe(want)
  })

  test('a command’s own default in place of the table’s', () => {
    const sources = { ...NONE, fallbacks: { listen: '127.0.0.1:3' } }
    expect(parseConfig(['listen'], {}, sources).listen.port).toBe(3)
  })

  test('a flag given twice is one list', () => {
    expect(parseConfig(['tlsSan'], { tlsSan: ['a,b', 'c'] }, NONE).tlsSan).toEqual(['a', 'b', 'c'])
  })

  test('what has no default is not there', () => {
    expect('databaseUrl' in parseConfig(['databaseUrl'], {}, NONE)).toBe(false)
  })
})

describe('an address to listen on', () => {
  const cases: ReadonlyArray<[string, { host: string; port: number } | undefined]> = [
    ['127.0.0.1:8443', { host: '127.0.0.1', port: 8443 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    [':8443', { host: '0.0.0.0', port: 8443 }],
    ['[::1]:8443', { host: '::1', port: 8443 }],
    ['::1:8443', undefined],
    ['127.0.0.1', undefined],
    ['127.0.0.1:65536', undefined],
    ['https://127.0.0.1:8443', undefined],
    ['', undefined],
  ]
  test.each(cases)('%s', (listen, want) => {
    const read = () => parseConfig(['listen'], { listen }, NONE).listen
    if (want) expect(read()).toEqual(want)
    else expect(read).toThrow(`--listen must be HOST:PORT, such as 127.0.0.1:8443, not "${listen}"`)
  })
})

describe('mistakes', () => {
  test('are reported all at once, each by the name it was given under', () => {
    const flags = { listen: 'nowhere', secretValues: 'plain' }
    const environment = { FLEETGLASS_LOG_LEVEL: 'loud' }
    const read = () => parseConfig(['listen', 'secretValues', 'logLevel'], flags, { environment })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(
      [
        '--listen must be HOST:PORT, such as 127.0.0.1:8443, not "nowhere"',
        '--secret-values must be one of digest, store, not "plain"',
        'FLEETGLASS_LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"',
      ].join('\n'),
    )
  })

  test('a secret value is not repeated', () => {
    const read = () => parseConfig(['databaseUrl'], { databaseUrl: 'mysql://u:hunter2@h/d' }, NONE)
    expect(read).toThrow('--database-url must be a URL, postgres://USER@HOST:PORT/DATABASE')
    expect(read).not.toThrow('hunter2')
  })
})

describe('the table itself', () => {
  test.each(ALL)('%s: the default is one that it would take', (name) => {
    const setting: Setting<unknown> = SETTINGS[name]
    if (setting.fallback !== undefined)
      expect(setting.read(setting.fallback)).toHaveProperty('value')
  })

  test('flags and variables are told apart', () => {
    const settings: Setting<unknown>[] = Object.values(SETTINGS)
    expect(new Set(settings.map(({ flag }) => flag)).size).toBe(settings.length)
    expect(variableOf(SETTINGS.tlsSan)).toBe('FLEETGLASS_TLS_SAN')
  })
})
