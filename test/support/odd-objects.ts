/** Objects that have broken mirrors before, as exact bytes. */

/** A ConfigMap of that name with these bytes as its `data`. */
function configMap(name: string, data: string | Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","namespace":"odd"},"data":`,
    ),
    Buffer.from(data),
    Buffer.from('}'),
  ])
}

/** What must come back byte for byte; all are ConfigMaps in namespace `odd`, named as the key. */
export const ODD_OBJECTS: Readonly<Record<string, Buffer>> = {
  'nul-escape': configMap('nul-escape', '{"a":"x\\u0000y"}'),
  'escaped-backslash-before-u0000': configMap(
    'escaped-backslash-before-u0000',
    '{"a":"\\\\u0000"}',
  ),
  'lone-surrogates': configMap('lone-surrogates', '{"a":"\\ud800","b":"\\udfff x"}'),
  'numbers-beyond-2-53': configMap(
    'numbers-beyond-2-53',
    '{"id":9223372036854775807,"group":9007199254740993}',
  ),
  'number-spellings': configMap('number-spellings', '{"a":1.0,"b":1e3,"c":-0,"d":1E-400}'),
  'duplicate-keys': configMap('duplicate-keys', '{"a":"first","a":"second"}'),
  'empty-names-and-values': configMap('empty-names-and-values', '{"":"","a":""}'),
  'wide-characters': configMap('wide-characters', '{"北京":"😀 zwölf Boxkämpfer","esc":"\\u5317"}'),
  'deep-nesting': configMap('deep-nesting', `{"a":${'['.repeat(500)}1${']'.repeat(500)}}`),
  'separators-in-strings': configMap(
    'separators-in-strings',
    '{"a":"},{\\"]\\\\","b":"\\n\\u2028"}',
  ),
}

/** What must be refused for that object alone. */
export const REFUSED_OBJECTS: Readonly<Record<string, Buffer>> = {
  'invalid-utf-8': configMap(
    'invalid-utf-8',
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}')]),
  ),
  'raw-nul': configMap(
    'raw-nul',
    Buffer.concat([Buffer.from('{"a":"x'), Buffer.from([0]), Buffer.from('y"}')]),
  ),
}

/** A ConfigMap of about so many bytes that do not compress. */
export function hugeConfigMap(name: string, bytes: number): Buffer {
  let state = 0x2545f491
  const letters = Buffer.alloc(bytes)
  for (let i = 0; i < bytes; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    letters[i] = 0x61 + ((state >>> 16) % 26)
  }
  return configMap(name, Buffer.concat([Buffer.from('{"blob":"'), letters, Buffer.from('"}')]))
}
