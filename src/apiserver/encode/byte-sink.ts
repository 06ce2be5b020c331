/** Where an answer's bytes go: the response itself, or something that rewrites them on the way. */

export interface ByteSink {
  /**
   * Takes the bytes; the caller may reuse them once it returned, or once the promise is fulfilled.
   *
   * @returns undefined when there was room, so that the common case costs no promise.
   */
  write(bytes: Uint8Array): Promise<void> | undefined
}
