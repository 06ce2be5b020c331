/**
 * What others' operators take: ServiceMonitor and PrometheusRule of prometheus-operator 0.84, Issuer
 * and Certificate of cert-manager 1.19. Of their CRDs what can be said of our objects; a field that
 * is not here is an error, as for `kubectl apply --validate=strict`.
 *
 * @see github.com/prometheus-operator/prometheus-operator, example/prometheus-operator-crd
 * @see github.com/cert-manager/cert-manager, deploy/crds
 */
import { Ajv, type ValidateFunction } from 'ajv'

type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const whole: Schema = { type: 'integer' }
const texts: Schema = { type: 'array', items: text }
const map: Schema = { type: 'object', additionalProperties: text }
const oneOf = (...values: readonly string[]): Schema => ({ ...text, enum: values })
const list = (items: Schema): Schema => ({ type: 'array', items })

function fields(properties: Readonly<Record<string, Schema>>, ...required: string[]): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Prometheus' durations: `1h30m`. */
const duration: Schema = {
  ...text,
  pattern:
    '^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$',
}
/** Go's, as ParseDuration reads them. */
const goDuration: Schema = { ...text, pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$' }
const keyOf = fields({ key: text, name: text, optional: flag }, 'key')
const secretOrConfigMap = fields({ secret: keyOf, configMap: keyOf })
const labelSelector = fields({
  matchLabels: map,
  matchExpressions: list(fields({ key: text, operator: text, values: texts }, 'key', 'operator')),
})

const relabeling = fields({
  action: text,
  modulus: whole,
  regex: text,
  replacement: text,
  separator: text,
  sourceLabels: list({ ...text, pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' }),
  targetLabel: text,
})

const endpoint = fields({
  authorization: fields({ type: text, credentials: keyOf }),
  basicAuth: fields({ username: keyOf, password: keyOf }),
  bearerTokenFile: text,
  bearerTokenSecret: keyOf,
  enableHttp2: flag,
  filterRunning: flag,
  followRedirects: flag,
  honorLabels: flag,
  honorTimestamps: flag,
  interval: duration,
  metricRelabelings: list(relabeling),
  path: text,
  port: text,
  proxyUrl: text,
  relabelings: list(relabeling),
  scheme: oneOf('http', 'https'),
  scrapeTimeout: duration,
  targetPort: { type: ['integer', 'string'] },
  tlsConfig: fields({
    ca: secretOrConfigMap,
    caFile: text,
    cert: secretOrConfigMap,
    certFile: text,
    insecureSkipVerify: flag,
    keyFile: text,
    keySecret: keyOf,
    maxVersion: oneOf('TLS10', 'TLS11', 'TLS12', 'TLS13'),
    minVersion: oneOf('TLS10', 'TLS11', 'TLS12', 'TLS13'),
    serverName: text,
  }),
  trackTimestampsStaleness: flag,
})

const serviceMonitor = fields(
  {
    attachMetadata: fields({ node: flag }),
    bodySizeLimit: { ...text, pattern: '(^0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)$' },
    endpoints: list(endpoint),
    jobLabel: text,
    labelLimit: whole,
    namespaceSelector: fields({ any: flag, matchNames: texts }),
    podTargetLabels: texts,
    sampleLimit: whole,
    scrapeClass: { ...text, minLength: 1 },
    selector: labelSelector,
    targetLabels: texts,
    targetLimit: whole,
  },
  'endpoints',
  'selector',
)

const rule: Schema = {
  ...fields(
    {
      alert: text,
      annotations: map,
      expr: { type: ['integer', 'string'] },
      for: duration,
      keep_firing_for: { ...duration, minLength: 1 },
      labels: map,
      record: text,
    },
    'expr',
  ),
  oneOf: [{ required: ['alert'] }, { required: ['record'] }],
}

const prometheusRule = fields({
  groups: list(
    fields(
      {
        interval: duration,
        labels: map,
        limit: whole,
        name: { ...text, minLength: 1 },
        query_offset: duration,
        rules: list(rule),
      },
      'name',
    ),
  ),
})

const USAGES = [
  ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement'],
  ...['data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any'],
  ...['server auth', 'client auth', 'code signing', 'email protection', 's/mime'],
  ...['ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing'],
]

const certificate = fields(
  {
    commonName: { ...text, maxLength: 64 },
    dnsNames: texts,
    duration: goDuration,
    ipAddresses: texts,
    isCA: flag,
    issuerRef: fields({ group: text, kind: text, name: text }, 'name'),
    privateKey: fields({
      algorithm: oneOf('RSA', 'ECDSA', 'Ed25519'),
      encoding: oneOf('PKCS1', 'PKCS8'),
      rotationPolicy: oneOf('Never', 'Always'),
      size: whole,
    }),
    renewBefore: goDuration,
    revisionHistoryLimit: { ...whole, minimum: 1 },
    secretName: text,
    secretTemplate: fields({ annotations: map, labels: map }),
    usages: list(oneOf(...USAGES)),
  },
  'issuerRef',
  'secretName',
)

const issuer: Schema = {
  ...fields({
    ca: fields(
      { secretName: text, crlDistributionPoints: texts, ocspServers: texts },
      'secretName',
    ),
    selfSigned: fields({ crlDistributionPoints: texts }),
  }),
  maxProperties: 1,
  minProperties: 1,
}

const SPECS: Readonly<Record<string, Schema>> = {
  'monitoring.coreos.com/v1 ServiceMonitor': serviceMonitor,
  'monitoring.coreos.com/v1 PrometheusRule': prometheusRule,
  'cert-manager.io/v1 Certificate': certificate,
  'cert-manager.io/v1 Issuer': issuer,
}

export interface ForeignObject {
  readonly apiVersion: string
  readonly kind: string
}

const validators = new Map<string, ValidateFunction>()
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true })
for (const [gvk, spec] of Object.entries(SPECS)) {
  const object = { apiVersion: text, kind: text, metadata: { type: 'object' }, spec }
  validators.set(gvk, ajv.compile(fields(object, 'metadata', 'spec')))
}

/** @returns what is wrong, by field; undefined of a kind that is not one of these. */
export function foreignProblems(object: ForeignObject): readonly string[] | undefined {
  const validate = validators.get(`${object.apiVersion} ${object.kind}`)
  if (!validate) return undefined
  validate(object)
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
