import { readView } from '../kit/calls.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import { createDecimals, type TokenPlace } from '../kit/decimals.ts'
import type { TokenTransfer } from './message.ts'

/** Bridge.sol, normalizeAmount: amounts of tokens with more decimals are cut to these. */
const mostDecimals = 8

export interface ConnectedBridge {
  readonly chain: ContractReader
  readonly tokenBridge: string
}

/** Reads the token on its own chain, else its wrapped form on the target. @param bridgeOf by Wormhole chain id */
export function createAmountDecimals(bridgeOf: (wormholeChainId: number) => ConnectedBridge | undefined) {
  const decimals = createDecimals()
  return async ({ originToken, originChain, originAddress, targetChain }: TokenTransfer): Promise<number | undefined> => {
    const [origin, target] = [bridgeOf(originChain), bridgeOf(targetChain)]
    const found = await decimals(origin ? originToken : `${originToken} on ${targetChain}`, async () => {
      if (origin) return placeOf(origin.chain, originAddress)
      if (!target) return undefined
      const [contract, args] = [target.tokenBridge, [originChain, `0x${originAddress}`]]
      const view = { contract, view: 'wrappedAsset(uint16,bytes32)', args, returns: 'address' }
      const [wrapped] = await readView(target.chain, view, 'majority-latest')
      return placeOf(target.chain, String(wrapped).slice(2).toLowerCase().padStart(64, '0'))
    })
    return found === undefined ? undefined : Math.min(mostDecimals, found)
  }
}

/** Undefined for an address of another family, and for a token without a wrapped form (0). */
function placeOf(chain: ContractReader, word: string): TokenPlace | undefined {
  return /^0{24}/.test(word) && !/^0*$/.test(word) ? { chain, address: `0x${word.slice(24)}` } : undefined
}
