import { type BridgeName, unconfiguredSource } from '../domain/transfer/transfer.ts'
import { cctp } from './cctp/routes.ts'
import { type BridgesOptions, emittersOf, namesOf } from './configured-emitters.ts'
import type { ExecutorMessage } from './executor/message.ts'
import { decodeRequest, executor } from './executor/requests.ts'
import type { Decode } from './kit/published.ts'
import { ntt } from './ntt/ntt.ts'
import type { RouteWithin } from './port.ts'

/**
 * The bridges and the source of what a request names: a halt of them holds the request too. The emitter of a VAA is
 * known before it is signed. Its payload shows whether it is of a token bridge that the config does not name.
 * @param decode of signed messages, by the bridge that owns them
 */
export function createWithin(options: BridgesOptions, decode: Decode): (message: ExecutorMessage) => readonly RouteWithin[] {
  const names = namesOf(options)
  const sourceOf = (id: number) => names.get(id) ?? unconfiguredSource(id)
  const tokens = options.bridges.ntt?.tokens ?? []

  function ownerOf(vaa: Uint8Array): readonly BridgeName[] {
    try {
      return [decode(vaa).bridge]
    } catch {
      // No bridge delivers it by itself.
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
