import { laneAddress, type LaneId } from '../lane/lane-id.ts'

/** What stands for the part that is left out. */
export const leftOut = '…'

/** Hex digits of an address that are left at its begin and at its end. */
const addressBegin = 6
const addressEnd = 4

/** `0x5290…9ee7`. */
export function shortAddress(address: string): string {
  return `${address.slice(0, addressBegin)}${leftOut}${address.slice(-addressEnd)}`
}

/** `evm-56:0x5290…9ee7`. */
export function shortLane(lane: LaneId): string {
  const address = laneAddress(lane)
  return address.length > 20 ? `${lane.slice(0, -address.length)}${shortAddress(address)}` : lane
}

/** Longest part of an id that is shown whole, characters. */
const longestPart = 20
/** That of the name of a bridge, of which the first word tells enough. */
const longestBridge = 16

/** Of a stream: `wormhole…:ethereum:0000…a585`. */
export function shortStream(id: string): string {
  const [bridge = '', ...rest] = id.split(':')
  const first = bridge.length > longestBridge ? bridge.replace(/-.*$/, leftOut) : bridge
  return [first, ...rest.map((part) => (part.length > 2 * longestPart ? `${part.slice(0, 4)}${leftOut}${part.slice(-4)}` : part))].join(':')
}

/** A text in which lanes, addresses and hashes are as `shortAddress` says them, and may be broken into lines. */
export function shortHexIn(text: string): string {
  return text.replaceAll(/\b0x[0-9a-f]{40,64}\b/gi, shortAddress)
}

/** What follows the last `:`: the random or unique end of a workflow's id. */
export function lastPart(id: string): string {
  return id.slice(id.lastIndexOf(':') + 1)
}

/** Whether a short form, with `…` or `...` for what is left out, stands for this id. Case does not matter. */
export function isShortFor(short: string, id: string): boolean {
  const [begin = '', end, ...more] = short.toLowerCase().split(/…|\.{3}/)
  if (end === undefined) return short.toLowerCase() === id.toLowerCase()
  const whole = id.toLowerCase()
  if (!whole.startsWith(begin)) return false
  const parts = [end, ...more]
  let at = begin.length
  for (const part of parts.slice(0, -1)) {
    const found = whole.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  const last = parts.at(-1) ?? ''
  return whole.length - last.length >= at && whole.endsWith(last)
}

/** Fewest characters of an id that a short form has left. */
const fewestLeft = 8

/** Is it a short form of something? One that leaves out nearly everything is none: it would name whatever there is. */
export function isShort(text: string): boolean {
  return /…|\.{3}/.test(text) && text.replaceAll(/…|\.{3}/g, '').length >= fewestLeft
}

/** The end of a transfer's id: the first 64 bits of its digest, `6d1b4c0c5f0a3e21`. */
export function shortTransfer(id: string): string {
  return lastPart(id)
}
