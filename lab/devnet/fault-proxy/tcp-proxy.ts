import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy of one server that can cut or stall its connections. Bytes pass unchanged, so TLS works. */
export interface TcpProxy {
  readonly port: number
  readonly connections: number
  /** Resets all connections and, until `heal`, each new connection. */
  cut(): void
  /** Stops all bytes without closing connections, like an unplugged cable. New connections stay silent. */
  stall(): void
  /** Ends `cut` and `stall`. Stalled connections then deliver the bytes that were sent during the stall. */
  heal(): void
  stop(): Promise<void>
}

/**
 * `inner`: the connection to the client. `outer`: the connection to the server, undefined if `inner` began during a
 * stall.
 */
interface Pair {
  readonly inner: Socket
  outer?: Socket
  /** Whether one end closed the connection during a stall. */
  isBroken: boolean
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  let mode: 'open' | 'cut' | 'stalled' = 'open'

  const watch = (pair: Pair, socket: Socket) => {
    socket.on('error', () => {})
    socket.on('close', (hadError) => {
      if (mode === 'stalled') pair.isBroken = true
      else {
        pairs.delete(pair)
        endOther(pair, socket, hadError)
      }
    })
  }
  const flow = (pair: Pair) => {
    if (!pair.outer) watch(pair, (pair.outer = connect(target)))
    pair.inner.pipe(pair.outer)
    pair.outer.pipe(pair.inner)
  }
  const resetAll = () => {
    for (const pair of pairs) reset(pair)
    pairs.clear()
  }

  const server = createServer({ pauseOnConnect: true }, (inner) => {
    if (mode === 'cut') return void inner.resetAndDestroy()
    const pair: Pair = { inner, isBroken: false }
    pairs.add(pair)
    watch(pair, inner)
    if (mode === 'open') flow(pair)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    cut() {
      mode = 'cut'
      resetAll()
    },
    stall() {
      mode = 'stalled'
      for (const pair of pairs) hold(pair)
    },
    heal() {
      const wasStalled = mode === 'stalled'
      mode = 'open'
      for (const pair of pairs) {
        if (pair.isBroken) reset(pair)
        else if (wasStalled) flow(pair)
      }
    },
    stop: () =>
      new Promise((resolve) => {
        mode = 'cut'
        resetAll()
        server.close(() => resolve())
      }),
  }
}

function reset({ inner, outer }: Pair): void {
  for (const socket of [inner, outer]) if (socket && !socket.destroyed) socket.resetAndDestroy()
}

/** Ends the other socket: with a reset after an error, otherwise once the remaining bytes are sent. */
function endOther({ inner, outer }: Pair, ended: Socket, hadError: boolean): void {
  const other = ended === inner ? outer : inner
  if (hadError) other?.resetAndDestroy()
  else other?.destroySoon()
}

function hold({ inner, outer }: Pair): void {
  for (const socket of [inner, outer]) {
    socket?.unpipe()
    socket?.pause()
  }
}
