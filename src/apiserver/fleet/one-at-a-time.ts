/** Lets work wait for the work before it: however many ask, one sweep or comparison is in memory. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  run<Done>(work: () => Promise<Done>): Promise<Done> {
    const next = this.#last.then(work, work)
    this.#last = next
    return next
  }
}
