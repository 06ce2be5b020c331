import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfigFile } from '../../src/cli/config-file.ts'
import { addSettings, readSettings } from '../../src/cli/setting-options.ts'
import { ConfigError, parseConfig } from '../../src/config.ts'
import { SETTINGS, type Setting, variableOf } from '../../src/settings.ts'

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

describe('a file of settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetglass-config-'))
  const path = join(folder, 'fleetglass.yaml')
  afterAll(() => rmSync(folder, { recursive: true }))
  const read = (content: string) => {
    writeFileSync(path, content)
    return readConfigFile(path)
  }

  test.each(ALL.filter((name) => name !== 'config'))('%s can stand in it', (name) => {
    const setting: Setting<unknown> = SETTINGS[name]
    expect(read(`${setting.flag}: x`).values).toEqual(new Map([[setting.flag, 'x']]))
  })

  test('flags win over variables, and these over it', () => {
    const file = read('listen: 127.0.0.1:1\nlog-level: warn\nfirst-lists: 0017\n')
    const environment = { FLEETGLASS_LISTEN: '127.0.0.1:2', FLEETGLASS_LOG_LEVEL: 'error' }
    const flags = { listen: '127.0.0.1:3' }
    const names = ['listen', 'logLevel', 'firstLists', 'secretValues'] as const
    expect(parseConfig(names, flags, { environment, file })).toEqual({
      listen: { host: '127.0.0.1', port: 3 },
      logLevel: 'error',
      firstLists: 17,
      secretValues: 'digest',
    })
  })

  test('is what --config names', () => {
    read('listen: 127.0.0.1:1\ntls-san: [a, b]\nsharding-name: not for this command\n')
    const names = ['listen', 'tlsSan'] as const
    const command = addSettings(new Command(), names)
    command.parse(['--config', path], { from: 'user' })
    expect(readSettings(command, names)).toEqual({
      listen: { host: '127.0.0.1', port: 1 },
      tlsSan: ['a', 'b'],
    })
  })

  test.each(['', '# nothing\n', '{}'])('may hold nothing: %j', (content) => {
    expect(read(content).values.size).toBe(0)
  })

  test('a value that is malformed is named with its place', () => {
    const file = read('first-lists: many')
    expect(() => parseConfig(['firstLists'], {}, { ...NONE, file })).toThrow(
      `first-lists in ${path} must be a whole number from 1 to 1000, not "many"`,
    )
  })

  const mistakes: ReadonlyArray<[string, string]> = [
    ['lisen: :1', `${path}: there is no setting "lisen": did you mean "listen"?`],
    ['FLEETGLASS_LISTEN: x', `${path}: there is no setting "FLEETGLASS_LISTEN"`],
    ['listen: [a, b]', `${path}: listen must be one value`],
    ['tls-san: {a: b}', `${path}: tls-san must be a value or a list of values`],
    ['config: other.yaml', `${path}: config cannot name another file`],
    ['- listen', `--config ${path} must hold settings: a line "FLAG: VALUE" for each`],
    ['just words', `--config ${path} must hold settings: a line "FLAG: VALUE" for each`],
    ['listen: "a', `--config ${path} is not YAML: Missing closing "quote at line 1, column 11:`],
  ]
  test.each(mistakes)('%s', (content, message) => {
    expect(() => read(content)).toThrow(new ConfigError([message]))
  })

  test('all mistakes at once, and no password among them', () => {
    const content = 'a: 1\nb: 2\n'
    expect(() => read(content)).toThrow(/"a"\n.*"b"/)
    expect(() => read('database-url: postgres://u:hunter2@h/d\n  x: y')).not.toThrow('hunter2')
  })

  test('that is not there is said in a sentence', () => {
    const gone = join(folder, 'gone.yaml')
    expect(() => readConfigFile(gone)).toThrow(
      new ConfigError([`--config ${gone} cannot be read: no such file or directory`]),
    )
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
