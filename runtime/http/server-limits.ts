import type { Server } from 'node:http'
import { isIP, type Socket } from 'node:net'

/** Time limit for receiving a whole request, ms, so that slow senders do not hold connections. */
export const requestTimeoutMs = 10_000
export const lateCheckMs = 1_000
export const idleTimeoutMs = 5_000
/** A connection is closed after this many requests, which frees its place for others. */
export const maxRequestsOfConnection = 1_000
const maxConnections = 1_000
/** Few enough that one client cannot take all connections, and enough for a proxy with all clients behind it. */
const maxConnectionsOfAddress = 100

/** Limits a server's connections, in total and per address. Connections beyond the limit are closed immediately. */
export function limitConnections(server: Server): void {
  limitPipelining(server)
  server.maxConnections = maxConnections
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress
    const count = address === undefined ? 0 : (open.get(address) ?? 0)
    // If the address is undefined, the client has gone already.
    if (address === undefined || count >= maxConnectionsOfAddress) return void socket.destroy()
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/** At most this many requests of a connection wait for answers. Browsers and HTTP libraries send one at a time. */
const maxPipelined = 16

/** Closes a connection that sends requests but does not read the answers, each up to hundreds of kilobytes. */
function limitPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>()
  server.prependListener('request', ({ socket }, response) => {
    const count = (unanswered.get(socket) ?? 0) + 1
    unanswered.set(socket, count)
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
    if (count > maxPipelined) socket.destroy()
  })
}

/** Whether Host names this server: an IP address, localhost or `names`. Another name may mean DNS rebinding. */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::[0-9]{1,5})?$/i
    .exec(host ?? '')
    ?.slice(1)
    .find(Boolean)
    ?.toLowerCase()
    .replace(/\.$/, '')
  return name !== undefined && (isIP(name) !== 0 || name === 'localhost' || names.some((one) => one.toLowerCase() === name))
}
