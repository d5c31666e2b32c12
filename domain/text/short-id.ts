import { laneAddress, type LaneId } from '../lane/lane.ts'

export const leftOut = '…'

const addressBegin = 6
const addressEnd = 4

export function shortAddress(address: string): string {
  return `${address.slice(0, addressBegin)}${leftOut}${address.slice(-addressEnd)}`
}

const longestAddress = 20

export function shortLane(lane: LaneId): string {
  const address = laneAddress(lane)
  return address.length > longestAddress ? `${lane.slice(0, -address.length)}${shortAddress(address)}` : lane
}

const longestPart = 40
const longestBridge = 16

/** Example: `wormhole…:ethereum:0000…a585`. */
export function shortStream(id: string): string {
  const [bridge = '', ...rest] = id.split(':')
  const first = bridge.length > longestBridge ? bridge.replace(/^([^-]*)-.*$/s, `$1${leftOut}`) : bridge
  return [first, ...rest.map((part) => (part.length > longestPart ? `${part.slice(0, 4)}${leftOut}${part.slice(-4)}` : part))].join(':')
}

export function shortHexIn(text: string): string {
  return text.replaceAll(/\b0x[0-9a-f]{40,64}\b/gi, shortAddress)
}

export function lastPart(id: string): string {
  return id.slice(id.lastIndexOf(':') + 1)
}

/** `…` or `...` in the short form means omitted characters. Ignores case. */
export function isShortFor(short: string, id: string): boolean {
  const whole = id.toLowerCase()
  const [begin = '', ...middle] = short.toLowerCase().split(/…|\.{3}/)
  const end = middle.pop()
  if (end === undefined) return begin === whole
  if (!whole.startsWith(begin)) return false
  let at = begin.length
  for (const part of middle) {
    const found = whole.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return whole.length - end.length >= at && whole.endsWith(end)
}

/** Minimum length of a short form without its `…`. A shorter text would match nearly every id. */
const fewestLeft = 8

export function isShort(text: string): boolean {
  return /…|\.{3}/.test(text) && text.replaceAll(/…|\.{3}/g, '').length >= fewestLeft
}
