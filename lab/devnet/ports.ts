import { connect, createServer, type ListenOptions } from 'node:net'

/** Ports from `from` to below `to`. */
interface PortRange {
  readonly from: number
  readonly to: number
}

/**
 * Below the range from which systems take ports for outgoing connections and for port 0 (Linux: 32768 and up): any
 * connection may take a port from there before its server listens.
 */
// 10080 is one that fetch refuses ("bad port" of the Fetch standard), the highest of those below 32000.
const usual: PortRange = { from: 10_100, to: 32_000 }
const tries = 100

/**
 * A free TCP port of 127.0.0.1 that no other caller gets before this process ends. It stays reserved because servers
 * start to listen late and close the port when they restart. Throws Error if none was found.
 */
export async function freePort({ from, to }: PortRange = usual): Promise<number> {
  for (let count = 0; count < tries; count++) {
    const port = from + Math.floor(Math.random() * (to - from))
    if ((await claim(port)) && (await isFree(port))) return port
  }
  throw new Error(`No free port of 127.0.0.1 was found between ${from} and ${to}`)
}

/**
 * Reserves the port for this process. An abstract socket is the lock: only Linux has them, and it goes with the
 * process.
 */
function claim(port: number): Promise<boolean> {
  return process.platform === 'linux' ? listens({ path: `\0portage-port-${port}` }, 'stays') : Promise.resolve(true)
}

const isFree = (port: number) => listens({ port, host: '127.0.0.1' }, 'closes')

/** Whether a server can listen on the port. A server that stays does not keep the process alive. */
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

/** Whether something accepts connections on this port of 127.0.0.1. */
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
