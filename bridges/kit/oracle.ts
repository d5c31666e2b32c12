import { Interface } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { dollarDecimals } from '../../domain/text/amounts.ts'
import { type ContractReader, read } from './contract-reader.ts'

/** `at`: seconds since the epoch. `dollars`: with 10 decimals. */
export interface Price {
  readonly at: number
  readonly dollars: bigint
}

/** AggregatorV3Interface of Chainlink. `updatedAt` is in seconds since the epoch. */
const abi = new Interface([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
])

/** Reads a price from most nodes. Throws the errors of `read`, and PRICE_MISSING for a price that is not above 0. */
export async function readOracle(chain: ContractReader, to: string): Promise<Price> {
  const view = { abi, to, at: 'majority-latest' } as const
  const [round, [decimals]] = await Promise.all([
    read(chain, { ...view, method: 'latestRoundData' }),
    read(chain, { ...view, method: 'decimals' }),
  ])
  const dollars = (BigInt(round['answer']) * 10n ** BigInt(dollarDecimals)) / 10n ** BigInt(decimals)
  if (dollars <= 0n) throw new RelayerError('PRICE_MISSING', { detail: 'The price is not above 0.', facts: { chain: chain.name, to } })
  return { at: Number(round['updatedAt']), dollars }
}
