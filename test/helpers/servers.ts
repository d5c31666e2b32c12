import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { cleanUp } from './clean-up.ts'

/** Listens on a free port of 127.0.0.1 until the test or, outside a test, the file ends. Returns `host:port`. */
export async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanUp(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts an HTTP server as `listen` does. Returns its URL without a final slash. */
export async function listenHttp(answer: RequestListener): Promise<string> {
  return `http://${await listen(createServer(answer))}`
}
