import { type BridgeName, unconfiguredSource } from '../domain/transfer/transfer.ts'
import { cctp } from './cctp/routes.ts'
import { type BridgesOptions, emittersOf, namesOf } from './configured-emitters.ts'
import type { ExecutorMessage } from './executor/message.ts'
import { decodeRequest, executor } from './executor/requests.ts'
import type { Decode } from './kit/published.ts'
import { ntt } from './ntt/ntt.ts'
import type { RouteWithin } from './port.ts'

/**
 * Finds the bridges and the source chain of the message that a request names. A halt of one of them holds the request
 * too.
 * @param decode decodes a signed message by the bridge that owns it
 */
export function createWithin(options: BridgesOptions, decode: Decode): (message: ExecutorMessage) => readonly RouteWithin[] {
  const names = namesOf(options)
  const sourceOf = (id: number) => names.get(id) ?? unconfiguredSource(id)
  const tokens = options.bridges.ntt?.tokens ?? []

  function ownerOf(vaa: Uint8Array): readonly BridgeName[] {
    try {
      return [decode(vaa).bridge]
    } catch {
      // No bridge owns this VAA: only the request delivers it.
      return []
    }
  }

  return ({ sourceChain: id, request, attested: [vaa] }) => {
    const asked = decodeRequest(request.request)
    if (!asked) return []
    if (asked.prefix !== 'ERV1') return [{ bridge: asked.prefix === 'ERN1' ? ntt : cctp, sourceChain: sourceOf(id) }]
    const { chain, emitter } = asked
    const sourceChain = sourceOf(chain)
    const listed = emittersOf(options).filter((one) => one.emitterChain === chain && one.emitter === emitter)
    const isOfToken = tokens.some(({ peers }) => peers[sourceChain]?.transceivers.includes(emitter))
    const bridges = [executor, ...listed.map(({ bridge }) => bridge), ...(isOfToken ? [ntt] : []), ...(vaa ? ownerOf(vaa) : [])]
    return [...new Set(bridges)].map((bridge) => ({ bridge, sourceChain }))
  }
}
