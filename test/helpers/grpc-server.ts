import { createServer } from 'node:http2'
import { listen } from './servers.ts'

/** A server that answers each call with a gRPC status and an empty message (`body`). `open` counts its connections. */
export async function startGrpc(statusOf: (method: string) => number, body = (_: string) => Buffer.alloc(5)) {
  const calls: string[] = []
  let open = 0
  const server = createServer()
  server.on('session', (session) => {
    open += 1
    session.once('close', () => (open -= 1))
  })
  server.on('stream', (stream, { ':path': path }) => {
    const method = String(path).slice(String(path).lastIndexOf('/') + 1)
    calls.push(method)
    const status = statusOf(method)
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }))
    stream.end(status === 0 ? body(method) : undefined)
  })
  return { address: await listen(server), open: () => open, calls: (method: string) => calls.filter((one) => one === method).length }
}
