import { decodeBase64 } from 'ethers'
import { placeOf } from '../../domain/stream/places.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { PaidPlace, PaidProduct } from '../kit/paid.ts'
import { type CctpBridgeOptions, createCctp, listedIn } from './bridge.ts'
import { readCarried } from './carried.ts'
import { readMessage } from './message.ts'

/** The burn that a request names. A v2 request names no burn, so `v1` is absent. */
export interface CctpAsked {
  readonly v1?: { readonly domain: number; /** u64, decimal. */ readonly nonce: string }
}

/**
 * Delivers the burns that requests pay for, except burns that are delivered without a payment. A v2 request pays for
 * the last burn before it in its transaction.
 */
export function createPaidCctp(options: CctpBridgeOptions): PaidProduct<CctpAsked> {
  const { bridge, logs } = createCctp(options, { ...listedIn(options.settings), paid: true })
  const { endpoints, decode, content } = bridge

  async function transfersOf({ source, target, height, logIndex, txHash }: PaidPlace, { v1 }: CctpAsked): Promise<readonly Transfer[]> {
    const own = logs.filter(({ name }) => name === source)
    const blocks = await Promise.all(own.map(({ inBlock }) => inBlock(height)))
    const before = BigInt(placeOf(height, logIndex))
    const burns = blocks
      .flatMap((one) => [...one.values()])
      .flatMap(({ transfer, txHash: hash }) => {
        const { version, sourceDomain, nonce } = readMessage(readCarried(decodeBase64(transfer.message)).bytes)
        const isAsked = v1 ? version === 1 && sourceDomain === v1.domain && BigInt(nonce) === BigInt(v1.nonce) : version === 2
        return isAsked && hash.toLowerCase() === txHash && BigInt(transfer.sequence) < before ? [transfer] : []
      })
    const last = burns.toSorted((a, b) => (BigInt(a.sequence) < BigInt(b.sequence) ? -1 : 1)).at(-1)
    return last?.targetChain === target ? [last] : []
  }

  return {
    ...{ endpoints, decode, content, transfersOf },
    // Each request asks for one burn, so every delivery pays the drop-off.
    paysDropOff: () => true,
    async isAskedFor(place, asked, { sequence, emitter, digest }) {
      const [burn] = await transfersOf(place, asked)
      return burn?.sequence === sequence && burn.emitter === emitter && burn.digest === digest
    },
  }
}
