import { connect, createServer } from 'node:net'

/**
 * Below the range from which systems take ports for outgoing connections and for port 0 (Linux: 32768 and up): a port from there may be taken by
 * anybody's connection before the server that it was found for listens on it.
 */
const range = { from: 10_000, to: 32_000 } as const
const tries = 100

/** A TCP port of 127.0.0.1 that was free a moment ago. Throws Error if none was found. */
export async function freePort(): Promise<number> {
  for (let count = 0; count < tries; count++) {
    const port = range.from + Math.floor(Math.random() * (range.to - range.from))
    if (await isFree(port)) return port
  }
  throw new Error(`No free port of 127.0.0.1 was found between ${range.from} and ${range.to}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Does anything accept connections on this port of 127.0.0.1? */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
  })
}
