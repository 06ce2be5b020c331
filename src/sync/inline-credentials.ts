/** Credentials that stand in the registration or the kubeconfig itself. */
import { base64Field, type KubeconfigContext, textField, textsField } from './kubeconfig.ts'
import { type Authorization, InvalidConfig } from './member-access.ts'
import { checkedKeyPair } from './pem.ts'

/** What stands in the kubeconfig itself. */
export function inlineAuthorization({ user, userField }: KubeconfigContext): Authorization {
  const cert = base64Field(user, 'client-certificate-data', userField)
  const key = base64Field(user, 'client-key-data', userField)
  return {
    headers: inlineHeaders({ user, userField }),
    ...keyPair(
      { cert, key },
      { cert: `${userField}.client-certificate-data`, key: `${userField}.client-key-data` },
    ),
  }
}

/** Token or password, and who to act as. */
export function inlineHeaders({
  user,
  userField,
}: Pick<KubeconfigContext, 'user' | 'userField'>): Record<string, string> {
  const token = textField(user, 'token', userField)
  const name = textField(user, 'username', userField)
  const password = textField(user, 'password', userField) ?? ''
  const as = textField(user, 'as', userField)
  const groups = textsField(user, 'as-groups', userField)
  if (groups.length > 1) {
    throw new InvalidConfig(`${userField}.as-groups: one group is the most that is sent`)
  }
  return {
    ...(name && {
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    }),
    ...(token && bearer(token, `${userField}.token`)),
    ...(as && { 'impersonate-user': headerText(as, `${userField}.as`) }),
    ...(groups[0] && { 'impersonate-group': headerText(groups[0], `${userField}.as-groups`) }),
  }
}

export function bearer(token: string, field: string): { authorization: string } {
  return { authorization: `Bearer ${headerText(token.trim(), field)}` }
}

function headerText(text: string, field: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new InvalidConfig(`${field} holds characters that cannot be sent`)
  }
  return text
}

/** Both or none. @throws InvalidConfig naming the field. */
export function keyPair(
  pair: { cert: Buffer | undefined; key: Buffer | undefined },
  fields: { cert: string; key: string },
): { cert: string; key: string } | Record<string, never> {
  const { cert, key } = pair
  if (!cert && !key) return {}
  if (!cert) throw new InvalidConfig(`${fields.cert} is required with ${fields.key}`)
  if (!key) throw new InvalidConfig(`${fields.key} is required with ${fields.cert}`)
  return checkedKeyPair({ cert, key }, fields)
}
