import { connect, createServer, type ListenOptions } from 'node:net'

interface PortRange {
  readonly from: number
  readonly to: number
}

/**
 * These ports are below the range for outgoing connections (Linux: 32768 and up), because such a connection could take
 * a port before its server listens. They are above 10080, the highest "bad port" of the Fetch standard below 32000.
 */
const usual: PortRange = { from: 10_100, to: 32_000 }
const tries = 100

/**
 * Returns a free port. On Linux, `freePort` of another process does not return this port until this process ends.
 * Throws Error if no port was found.
 */
export async function freePort({ from, to }: PortRange = usual): Promise<number> {
  for (let count = 0; count < tries; count++) {
    const port = from + Math.floor(Math.random() * (to - from))
    if ((await claim(port)) && (await isFree(port))) return port
  }
  throw new Error(`No free port of 127.0.0.1 was found between ${from} and ${to}`)
}

/** An abstract socket reserves the port and disappears with the process. Only Linux has abstract sockets. */
function claim(port: number): Promise<boolean> {
  return process.platform === 'linux' ? listens({ path: `\0portage-port-${port}` }, 'stays') : Promise.resolve(true)
}

const isFree = (port: number) => listens({ port, host: '127.0.0.1' }, 'closes')

/**
 * Whether a server can listen here. With `stays`, the server continues to listen, but does not keep the process alive.
 */
function listens(at: ListenOptions, then: 'stays' | 'closes'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(at, () => {
      if (then === 'closes') return server.close(() => resolve(true))
      server.unref()
      resolve(true)
    })
  })
}

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
