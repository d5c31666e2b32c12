import type { TransferContent } from '../../domain/transfer/content.ts'
import type { BridgeName, ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { groupBy } from '../../domain/group-by.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { parseVaa, toHex, type Vaa } from '../../domain/vaa.ts'
import { selectorOf } from '../kit/bytes-call.ts'
import type { Decode } from '../kit/published.ts'
import { type ChainNames, toTransfer } from '../kit/signed-messages.ts'

export const receivers = 'receivers' satisfies BridgeName

/** Delivers the messages of one emitter to one contract. Addresses and selectors are 0x, lower case. */
export interface ReceiverRoute {
  readonly emitterChain: number
  readonly emitter: string
  /** Offset in the payload, bytes → the bytes there, lower-case hex without 0x. All must match. */
  readonly where: Readonly<Record<string, string>>
  readonly targetChain: ChainName
  readonly contract: string
  /** `name(bytes)`: takes the signed message alone. */
  readonly function: string
  readonly delivered: DeliveredView
}

export interface DeliveredView {
  readonly contract: string
  /** `name(types)`, with one answer of one word. */
  readonly view: string
  /** Literals, or `$digest`, `$emitter`, `$emitterChain`, `$sequence` of the message. */
  readonly args: readonly string[]
  /** The answer for a delivered message: `true`, `false`, a decimal number, or 0x hex of at most 32 bytes. */
  readonly is: string
}

export function routeOf(routes: readonly ReceiverRoute[], { emitterChain, emitter, payload }: Vaa): ReceiverRoute | undefined {
  return routes.find((route) => {
    if (route.emitterChain !== emitterChain || route.emitter !== emitter) return false
    return Object.entries(route.where).every(([offset, bytes]) => {
      const start = Number(offset)
      return toHex(payload.subarray(start, start + bytes.length / 2)) === bytes
    })
  })
}

/** Throws VAA_*, PAYLOAD_KIND for a message of no route, MESSAGE_TOO_LARGE. */
export function createDecode(routes: readonly ReceiverRoute[], chainNames: ChainNames): Decode {
  return function decode(bytes): Transfer {
    const vaa = parseVaa(bytes)
    const route = routeOf(routes, vaa)
    if (!route) throw new RelayerError('PAYLOAD_KIND', { facts: { emitterChain: vaa.emitterChain, emitter: vaa.emitter } })
    return toTransfer(receivers, bytes, { vaa }, { chainNames, targetChain: route.targetChain })
  }
}

export function allCalls(routes: readonly ReceiverRoute[]): Readonly<Record<string, readonly string[]>> {
  const contracts = groupBy(routes, ({ contract }) => contract)
  return Object.fromEntries(
    [...contracts].map(([contract, own]) => [contract, [...new Set(own.map((route) => selectorOf(route.function)))]]),
  )
}

export function contentOf(routes: readonly ReceiverRoute[], bytes: Uint8Array): Partial<TransferContent> {
  const vaa = parseVaa(bytes)
  const route = routeOf(routes, vaa)
  return { token: `${vaa.emitterChain}/${vaa.emitter}`, ...(route && { recipient: route.contract }) }
}
