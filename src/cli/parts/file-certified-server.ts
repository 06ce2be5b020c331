/** The API server with a certificate that others issue and renew: --tls-cert-file. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { ListenAddress } from '../../config.ts'
import { type ApiServer, type ApiServerParts, startApiServer } from './api-server.ts'
import { readFiles, watchFiles } from './watched-files.ts'

export interface FileCertifiedServerParts extends Omit<ApiServerParts, 'tls'> {
  readonly certFile: string
  readonly keyFile: string
  readonly listen: ListenAddress
}

/** @throws CommandFailure when the files cannot be used, or the address cannot be had. */
export async function startFileCertifiedServer(
  parts: FileCertifiedServerParts,
): Promise<Pick<ApiServer, 'port' | 'stop'>> {
  const { certFile, keyFile, clock, log } = parts
  const running: { server?: ApiServer } = {}
  const files = watchFiles({
    ...pairIn({ certFile, keyFile }),
    changed: (pair) => running.server?.useCertificate(pair),
    ...{ clock, log },
  })
  try {
    const server = await startApiServer({ ...parts, tls: files.current })
    running.server = server
    return {
      port: server.port,
      stop: async () => {
        await Promise.all([files.stop(), server.stop()])
      },
    }
  } catch (error) {
    await files.stop()
    throw error
  }
}

/** What is in the files now. @throws CommandFailure when they cannot be used. */
export function readServingPair(files: Pick<FileCertifiedServerParts, 'certFile' | 'keyFile'>) {
  return readFiles(pairIn(files))
}

function pairIn({ certFile, keyFile }: Pick<FileCertifiedServerParts, 'certFile' | 'keyFile'>) {
  return {
    paths: [certFile, keyFile],
    parse: (cert = '', key = '') => servingPair({ cert, key }),
  }
}

/** The first certificate of the file is the server's; others after it are sent along. */
function servingPair(pair: { readonly cert: string; readonly key: string }) {
  const belongs = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))
  if (!belongs) throw new Error('the certificate is not that of the key')
  return pair
}
