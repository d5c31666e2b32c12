import { connect, createServer, type ListenOptions } from 'node:net'

/** The range of ports from `from` up to, but without, `to`. */
interface PortRange {
  readonly from: number
  readonly to: number
}

/**
 * Below the range from which systems take ports for outgoing connections and for port 0 (Linux: 32768 and up).
 * Otherwise another connection could take a port before its server listens. Above 10080, which fetch refuses (a "bad
 * port" of the Fetch standard). No other port below 32000 that fetch refuses is higher.
 */
// 10080 is one that fetch refuses ("bad port" of the Fetch standard), the highest of those below 32000.
const usual: PortRange = { from: 10_100, to: 32_000 }
const tries = 100

/**
 * A free TCP port of 127.0.0.1 that no other caller gets before this process ends. It stays reserved, because servers
 * listen only later and close the port when they restart. Throws Error if no port was found.
 */
export async function freePort({ from, to }: PortRange = usual): Promise<number> {
  for (let count = 0; count < tries; count++) {
    const port = from + Math.floor(Math.random() * (to - from))
    if ((await claim(port)) && (await isFree(port))) return port
  }
  throw new Error(`No free port of 127.0.0.1 was found between ${from} and ${to}`)
}

/**
 * Reserves the port for this process by an abstract socket, which disappears with the process. Only Linux has abstract
 * sockets.
 */
function claim(port: number): Promise<boolean> {
  return process.platform === 'linux' ? listens({ path: `\0portage-port-${port}` }, 'stays') : Promise.resolve(true)
}

const isFree = (port: number) => listens({ port, host: '127.0.0.1' }, 'closes')

/**
 * Whether a server can listen at this place. `then`: what happens to the server. One that stays does not keep the
 * process alive.
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
