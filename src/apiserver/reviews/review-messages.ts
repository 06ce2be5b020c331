/**
 * The self reviews in Kubernetes' protobuf, which kubectl since 1.30 asks in.
 *
 * Every object stands in an envelope: four magic bytes, then a `runtime.Unknown` that says what it
 * is. Field numbers are those of the public schema.
 *
 * @see api/authorization/v1/generated.proto, api/authentication/v1/generated.proto,
 *   apimachinery/pkg/runtime/generated.proto
 */
import protobuf from 'protobufjs'
import { StatusError } from '../../kube/status-error.ts'

const MAGIC = Buffer.from('k8s\0')

const SCHEMA = `
syntax = "proto2";

message Unknown {
  optional TypeMeta typeMeta = 1; optional bytes raw = 2;
  optional string contentEncoding = 3; optional string contentType = 4;
}
message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
message ObjectMeta { optional string name = 1; }

message SelfSubjectAccessReview {
  optional ObjectMeta metadata = 1; optional AccessSpec spec = 2; optional AccessStatus status = 3;
}
message AccessSpec {
  optional ResourceAttributes resourceAttributes = 1;
  optional NonResourceAttributes nonResourceAttributes = 2;
}
message ResourceAttributes {
  optional string namespace = 1; optional string verb = 2; optional string group = 3;
  optional string version = 4; optional string resource = 5; optional string subresource = 6;
  optional string name = 7; optional SelectorAttributes fieldSelector = 8;
  optional SelectorAttributes labelSelector = 9;
}
message SelectorAttributes {
  optional string rawSelector = 1; repeated SelectorRequirement requirements = 2;
}
message SelectorRequirement {
  optional string key = 1; optional string operator = 2; repeated string values = 3;
}
message NonResourceAttributes { optional string path = 1; optional string verb = 2; }
message AccessStatus {
  optional bool allowed = 1; optional string reason = 2; optional string evaluationError = 3;
  optional bool denied = 4;
}

message SelfSubjectRulesReview {
  optional ObjectMeta metadata = 1; optional RulesSpec spec = 2; optional RulesStatus status = 3;
}
message RulesSpec { optional string namespace = 1; }
message RulesStatus {
  repeated ResourceRule resourceRules = 1; repeated NonResourceRule nonResourceRules = 2;
  optional bool incomplete = 3; optional string evaluationError = 4;
}
message ResourceRule {
  repeated string verbs = 1; repeated string apiGroups = 2; repeated string resources = 3;
  repeated string resourceNames = 4;
}
message NonResourceRule { repeated string verbs = 1; repeated string nonResourceURLs = 2; }

message SelfSubjectReview { optional ObjectMeta metadata = 1; optional SelfStatus status = 2; }
message SelfStatus { optional UserInfo userInfo = 1; }
message UserInfo {
  optional string username = 1; optional string uid = 2; repeated string groups = 3;
  map<string, ExtraValue> extra = 4;
}
message ExtraValue { repeated string items = 1; }
`

const root = protobuf.parse(SCHEMA, { keepCase: true }).root

/** An object with its kind: what the JSON form is. */
export interface Enveloped {
  readonly kind: string
  readonly apiVersion: string
  readonly [field: string]: unknown
}

/** @throws `BadRequest` when the bytes are no such message. */
export function decodeEnvelope(body: Buffer, kind: string): Enveloped {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badBody(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
  }
  try {
    const unknown = plain('Unknown', body.subarray(MAGIC.length))
    const { apiVersion = '', kind: given = '' } = (unknown.typeMeta ?? {}) as Record<string, string>
    const fields = given === kind ? plain(kind, (unknown.raw ?? Buffer.alloc(0)) as Buffer) : {}
    return { ...fields, kind: given, apiVersion }
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw badBody('the protobuf message cannot be read')
  }
}

function plain(message: string, bytes: Uint8Array): Record<string, unknown> {
  const type = root.lookupType(message)
  return type.toObject(type.decode(bytes))
}

export function encodeEnvelope({ kind, apiVersion, ...fields }: Enveloped): Buffer {
  const raw = root.lookupType(kind)
  const unknown = root.lookupType('Unknown')
  const envelope = {
    typeMeta: { apiVersion, kind },
    raw: raw.encode(raw.fromObject(withExtraValues(fields))).finish(),
    contentEncoding: '',
    contentType: '',
  }
  return Buffer.concat([MAGIC, unknown.encode(unknown.fromObject(envelope)).finish()])
}

/** In JSON the values of a key are a list; a protobuf map holds no lists, but messages. */
function withExtraValues(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { userInfo } = (fields.status ?? {}) as {
    readonly userInfo?: { readonly extra?: Readonly<Record<string, readonly string[]>> }
  }
  if (!userInfo?.extra) return fields
  const values = Object.entries(userInfo.extra).map(([key, items]) => [key, { items }])
  return { ...fields, status: { userInfo: { ...userInfo, extra: Object.fromEntries(values) } } }
}

function badBody(why: string): StatusError {
  return new StatusError('BadRequest', why)
}
