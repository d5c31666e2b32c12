import { idOf } from '../config/chains.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { type ConfiguredChain, withChain } from './chains.ts'

/** Gas of a payment, and the factor by which the price may rise before it is sent. */
const paymentGas = 21_000n
const priceRoom = 2n
/** The signed gas limit is the estimate times 1.2; 2 is on the safe side. */
const limitRoom = 2n

/** The account of a configured lane, with its chain connected. */
export interface LaneAccount {
  /** The chain's name in the config. */
  readonly name: ChainName
  readonly config: ChainConfig
  readonly lane: ChainConfig['lanes'][number]
  readonly chain: ConfiguredChain
}

/** Throws LANE_NOT_FOUND for a lane that the config does not have; NODE_UNAVAILABLE, CHAIN_ID_MISMATCH. */
export async function withLaneChain<Result>(config: Config, id: LaneId, use: (account: LaneAccount) => Promise<Result>): Promise<Result> {
  for (const [name, settings] of Object.entries(config.chains)) {
    const lane = settings.lanes.find(({ address }) => idOf(settings, address) === id)
    if (lane) return withChain(config, name, (chain) => use({ name, config: settings, lane, chain }))
  }
  throw new RelayerError('LANE_NOT_FOUND', { detail: 'It is not in the config.', facts: { lane: id } })
}

/** The coins that remain after `keep` and the cost of sending them, wei, decimal. Throws INPUT_INVALID if there are none. */
export async function spare({ chain, lane }: LaneAccount, to: string, keep: bigint): Promise<string> {
  const intent = { to, data: '0x', value: '0' }
  const [account, quote, dataFee] = await Promise.all([chain.account(lane.address), chain.quote(), chain.dataFee(intent)])
  const cost = paymentGas * limitRoom * BigInt(quote.maxFee) * priceRoom + BigInt(dataFee) * priceRoom
  const value = BigInt(account.balance) - keep - cost
  if (value > 0n) return String(value)
  const detail = `nothing to send: balance ${account.balance} wei, to keep ${keep} wei, fee up to ${cost} wei`
  throw new RelayerError('INPUT_INVALID', { detail, facts: { lane: lane.address } })
}

/** The lane's balance of an ERC-20 token, in its smallest units. Throws INPUT_INVALID if it is 0, or no token answers. */
export async function tokenBalance({ chain, lane }: LaneAccount, token: string): Promise<bigint> {
  // balanceOf(address)
  const answer = await chain.call(token, `0x70a08231${lane.address.slice(2).padStart(64, '0')}`, 'latest')
  if (!/^0x[0-9a-f]{64}$/i.test(answer)) throw new RelayerError('INPUT_INVALID', { detail: 'no ERC-20 token answers', facts: { token } })
  const balance = BigInt(answer)
  if (balance === 0n) throw new RelayerError('INPUT_INVALID', { detail: 'the lane has none of this token', facts: { token } })
  return balance
}
