/** What stands between a program and its servers: a balancer or a virtual address that can switch. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export class SwitchingProxy {
  readonly port: number
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  readonly #close: () => void
  #targets: readonly number[]
  #next = 0

  /** @param targets - ports of 127.0.0.1, in turns. */
  static async start(...targets: readonly number[]): Promise<SwitchingProxy> {
    const server = createServer({ allowHalfOpen: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const proxy = new SwitchingProxy(port, targets, () => server.close())
    server.on('connection', (socket) => proxy.#join(socket))
    return proxy
  }

  private constructor(port: number, targets: readonly number[], close: () => void) {
    this.port = port
    this.#targets = targets
    this.#close = close
  }

  /** From now on new connections lead there; open ones stay. */
  switchTo(...targets: readonly number[]): void {
    this.#targets = targets
  }

  /** Resets every open connection. */
  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }

  /** Open connections pass nothing any more, and nobody is told: as when a host is gone. */
  silence(): void {
    for (const [client, server] of this.#pairs) {
      for (const socket of [client, server]) socket.unpipe().pause()
    }
  }

  stop(): void {
    this.#close()
    this.cut()
  }

  #join(client: Socket): void {
    const target = this.#targets[this.#next++ % this.#targets.length]
    if (target === undefined) {
      client.resetAndDestroy()
      return
    }
    const server = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })
    const pair = [client, server] as const
    this.#pairs.add(pair)
    for (const [one, other] of [pair, [server, client] as const]) {
      one.pipe(other)
      one.on('error', () => other.resetAndDestroy())
      one.on('close', () => this.#pairs.delete(pair))
    }
  }
}
