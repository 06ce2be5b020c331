/** A way to a database that goes away when it is told to, and a store that takes it. */
import { connectStore, type Store } from '../../src/store/connect.ts'
import { TcpProxy } from './tcp-proxy.ts'

export interface ProxiedStore {
  readonly store: Store
  /** Stopped: connections are cut, and new ones refused. */
  readonly proxy: TcpProxy
}

export async function proxiedStore(url: string): Promise<ProxiedStore> {
  const { hostname, port } = new URL(url)
  const proxy = new TcpProxy({ host: hostname, port: Number(port) })
  await proxy.start()
  const through = new URL(url)
  through.port = String(proxy.port)
  const store = await connectStore({ url: through.href, applicationName: 'test syncer' })
  return { store, proxy }
}
