/** Clients that leave while the server is busy with something else. */
import { once } from 'node:events'
import { get } from 'node:http'
import Fastify, { type FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { ClientGone, ResponseWriter } from '../../src/apiserver/encode/response-writer.ts'
import type { Representer } from '../../src/apiserver/registration/represent.ts'
import { sendWatch, type WatchStream } from '../../src/apiserver/registration/watch-stream.ts'
import { whenClosed } from '../../src/apiserver/when-closed.ts'
import { CLUSTER_GROUP } from '../../src/kube/pedia-cluster.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'

/** The answer to a client that has gone, and everybody was told. In an object: a reply is awaited. */
async function abandoned(): Promise<{ readonly reply: FastifyReply }> {
  const taken = Promise.withResolvers<{ readonly reply: FastifyReply }>()
  const server = Fastify()
  server.get('/', async (_, reply) => {
    reply.hijack()
    taken.resolve({ reply })
  })
  const request = get(await server.listen({ host: '127.0.0.1', port: 0 }))
  request.on('error', () => undefined) // it is cut off
  const { reply } = await taken.promise
  request.destroy()
  await once(reply.raw, 'close')
  await server.close()
  return { reply }
}

test('who asks late is told at once', async () => {
  const { raw } = (await abandoned()).reply
  let told = 0
  whenClosed(raw, () => told++)
  expect(told).toBe(1)
})

test('a list to a client that has left is not written', async () => {
  const { raw } = (await abandoned()).reply
  const writer = new ResponseWriter(raw)
  expect(() => writer.write(Buffer.from('{'))).toThrow(ClientGone)
  await expect(writer.end()).rejects.toThrow(ClientGone)
})

/** It lasts until it is told to end: no event comes, and rights stay as they are. */
const WATCH: WatchStream = {
  kind: kindOfResource(CLUSTER_GROUP, 'pediaclusters'),
  representer: {} as Representer,
  async *events(signal) {
    if (!signal.aborted) await once(signal, 'abort')
    yield* []
  },
  timeoutSeconds: 3600,
  stopping: new AbortController().signal,
  async rightsChange(signal) {
    if (!signal.aborted) await once(signal, 'abort')
  },
}

test('a watch of a client that has left is over', async () => {
  const { reply } = await abandoned()
  await expect(sendWatch(reply, WATCH)).resolves.toBeUndefined()
})

test('a watch whose rights cannot be told is over', async () => {
  const server = Fastify()
  const rightsChange = async () => Promise.reject(new Error('no catalog'))
  server.get('/', async (_, reply) => sendWatch(reply, { ...WATCH, rightsChange }))
  const { statusCode, body } = await server.inject('/')
  expect({ statusCode, body }).toEqual({ statusCode: 200, body: '' })
})

test('a watch that begins while the server stops is over', async () => {
  const server = Fastify()
  const stopping = AbortSignal.abort()
  server.get('/', async (_, reply) => sendWatch(reply, { ...WATCH, stopping }))
  const answer = await fetch(await server.listen({ host: '127.0.0.1', port: 0 }))
  expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: '' })
  await server.close()
})
