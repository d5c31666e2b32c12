import { isIP, type Server } from 'node:net'

/** A request has to be there so soon, body and all, ms: who sends slowly must not hold connections. */
export const requestTimeoutMs = 10_000
/** How often Node looks for requests that are too late, ms. */
export const lateCheckMs = 1_000
/** A connection on which nothing is asked is closed after so long, ms: an idle one must not hold a place. */
export const idleTimeoutMs = 5_000
/** After so many requests a connection is closed: its place is free for others. */
export const maxRequestsOfConnection = 1_000
/** Most connections at a time. */
const maxConnections = 1_000
/** Most of them from one address: nobody takes all places, but a proxy that everybody comes through has enough. */
const maxConnectionsOfAddress = 100

/** Limits the connections of a server, and those of one address; those beyond are closed at once. */
export function limitConnections(server: Server): void {
  server.maxConnections = maxConnections
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress
    const count = address === undefined ? 0 : (open.get(address) ?? 0)
    // Without an address the client has gone already.
    if (address === undefined || count >= maxConnectionsOfAddress) return void socket.destroy()
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/**
 * Is the Host header ours? A page in a browser on this machine can have its own name resolve to our address (DNS rebinding), but it cannot send an address, nor a
 * name that is not its own.
 * @param names of the config, beside addresses and localhost
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::[0-9]{1,5})?$/i
    .exec(host ?? '')
    ?.slice(1)
    .find(Boolean)
    ?.toLowerCase()
    .replace(/\.$/, '')
  return name !== undefined && (isIP(name) !== 0 || name === 'localhost' || names.some((one) => one.toLowerCase() === name))
}
