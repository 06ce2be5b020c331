/** How one member cluster is reached, whoever told us: the shape between credentials and client. */

/** What one request is authorised by. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>
  /** PEM; both or none. */
  readonly cert?: string
  readonly key?: string
}

export interface MemberAccess {
  /** http or https; its path is a prefix of every request. */
  readonly server: URL
  /** PEM. Undefined: the authorities that this machine trusts. */
  readonly ca?: string
  readonly serverName?: string
  /** The certificate of the server is not verified. */
  readonly insecure: boolean
  readonly proxyUrl?: string
  /** May change from call to call: tokens are read again, plugins run. */
  authorize(): Promise<Authorization>
  /** After a 401: drops what can be had anew, and says whether another try makes sense. */
  renew(): boolean
}

/** The registration does not say how to reach its cluster. The message names the field. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig'
}
