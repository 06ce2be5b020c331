/** Stands between a client and a server on this machine, and goes away when it is told to. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number }
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target
  }

  get port(): number {
    return this.#port
  }

  async start(): Promise<void> {
    const server = createServer((client) => {
      const upstream = connect(this.#target)
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
    })
    this.#server = server
    this.#port ||= await freePort()
    await once(server.listen(this.#port, '127.0.0.1'), 'listening')
  }

  /** Cuts every connection, and refuses new ones. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
