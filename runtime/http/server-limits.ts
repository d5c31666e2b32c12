import type { Server } from 'node:http'
import { isIP, type Socket } from 'node:net'

export const requestTimeoutMs = 10_000
export const lateCheckMs = 1_000
export const idleTimeoutMs = 5_000
export const maxRequestsOfConnection = 1_000
const maxConnections = 1_000
/** Low enough that one address cannot take all connections, and high enough for a proxy in front of all clients. */
const maxConnectionsOfAddress = 100

/** Limits connections (in total, and per address or IPv6 network), and the unanswered requests of each connection. */
export function limitConnections(server: Server): void {
  limitPipelining(server)
  server.maxConnections = maxConnections
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress === undefined ? undefined : networkOf(socket.remoteAddress)
    const count = address === undefined ? 0 : (open.get(address) ?? 0)
    if (address === undefined || count >= maxConnectionsOfAddress) return void socket.destroy()
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/** The address itself or, for IPv6, its first 64 bits: a client usually owns all other bits (RFC 6177). */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (isIP(address) !== 6 || mapped !== undefined) return mapped ?? address
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}

/** Maximum number of unanswered requests per connection. Browsers and HTTP libraries send one at a time. */
const maxPipelined = 16

/**
 * Limits the unanswered requests of a connection, because unread answers of hundreds of kilobytes could fill the
 * memory.
 */
function limitPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>()
  server.prependListener('request', ({ socket }, response) => {
    const count = (unanswered.get(socket) ?? 0) + 1
    unanswered.set(socket, count)
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
    if (count > maxPipelined) socket.destroy()
  })
}

/** Whether a Host header is an IP address, localhost or one of `names`. Another name may be DNS rebinding. */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::[0-9]{1,5})?$/i
    .exec(host ?? '')
    ?.slice(1)
    .find(Boolean)
    ?.toLowerCase()
    .replace(/\.$/, '')
  return name !== undefined && (isIP(name) !== 0 || name === 'localhost' || names.some((one) => one.toLowerCase() === name))
}
