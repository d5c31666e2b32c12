import { Interface } from 'ethers'
import { LRUCache } from 'lru-cache'
import { within } from '../../runtime/wait.ts'
import { type ContractReader, read } from './contract-reader.ts'

// The answer is read as uint256, because ethers would cut a longer number to uint8 without an error.
const abi = new Interface(['function decimals() view returns (uint256)'])

/** Maximum number of kept answers, because anybody can make tokens. */
const mostKept = 4_096
/**
 * Maximum time for which the start of a transfer waits for the decimals, ms. A slower read continues, for later
 * transfers.
 */
const longestMs = 1_000
const mostDecimals = 77n

export interface TokenPlace {
  readonly chain: ContractReader
  readonly address: string
}

type FindPlace = () => Promise<TokenPlace | undefined>

/**
 * Returns a function that reads a token's decimals from most nodes. It never throws, and resolves to undefined if no
 * valid answer comes in time.
 */
export function createDecimals() {
  const kept = new LRUCache<string, number, FindPlace>({
    max: mostKept,
    async fetchMethod(_, __, { context: findPlace }) {
      const place = await findPlace()
      if (!place) return undefined
      const [decimals] = await read(place.chain, { abi, to: place.address, method: 'decimals', at: 'majority-latest' })
      return decimals > mostDecimals ? undefined : Number(decimals)
    },
  })
  return (token: string, findPlace: FindPlace): Promise<number | undefined> => {
    const answer = kept.fetch(token, { context: findPlace }).catch(() => undefined)
    return within(longestMs, answer, () => undefined)
  }
}
