import { getBytes, zeroPadValue } from 'ethers'
import { placeOf } from '../../../domain/stream/places.ts'
import { freshAddress } from '../chain/accounts.ts'
import type { AnvilNode } from '../chain/anvil.ts'
import type { Mined } from '../chain/contracts.ts'
import { createSender } from '../chain/sender.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import { cctpAbis, type CctpEnd } from './cctp.ts'

export interface UserBurn {
  readonly version: 1 | 2
  /** 6 decimals. */
  readonly amount: bigint
  readonly recipient?: string
  /** The only account that may deliver the burn. Default: any account. */
  readonly caller?: string
  /**
   * Minimum finality of a v2 burn. Default: 2000 (finalized). The fields `maxFee` and `hookData` are for v2 only too.
   */
  readonly minFinality?: number
  readonly maxFee?: bigint
  readonly hookData?: string
}

export interface SentBurn extends Required<Pick<UserBurn, 'version' | 'amount' | 'recipient'>> {
  readonly source: string
  readonly sourceNetworkId: number
  readonly target: string
  /** Token on the target chain, lower-case 0x. */
  readonly asset: string
  /** The source's MessageTransmitter, 64 lower-case hex digits. */
  readonly emitter: string
  /** Place of the message's log: block height × 1,000,000 + index. */
  readonly sequence: bigint
  readonly txHash: string
  readonly height: number
  readonly message: Uint8Array
  /** Seconds. */
  readonly sentAt: number
}

const nobody = `0x${'00'.repeat(20)}`

/** The part of a `CctpEnd` that another process needs in order to send burns. */
export type CctpSide = Omit<CctpEnd, 'anvil'> & { readonly anvil: AnvilNode }

export type CctpUsers = ReturnType<typeof startCctpUsers>

/** Users of one direction. They do not mine blocks themselves, but wait for the chain to mine them. */
export function startCctpUsers(source: CctpSide, target: CctpSide) {
  const sendCalls = createSender(source.anvil, source.user, 400_000n)
  return {
    async burn(burns: readonly UserBurn[]): Promise<SentBurn[]> {
      const abis = await cctpAbis()
      const wanted = burns.map((burn) => ({ ...burn, recipient: (burn.recipient ?? freshAddress()).toLowerCase() }))
      const calls = wanted.map((burn) => {
        const { method, args } = callOf(burn, source, target)
        return { to: source.contracts[burn.version].messenger, data: abis[burn.version].messenger.encodeFunctionData(method, args) }
      })
      const mined = await sendCalls(calls)
      return Promise.all(wanted.map((burn, index) => burnOutcome(source, target, burn, mined[index])))
    },
  }
}

export async function burnOutcome(
  source: CctpSide,
  target: CctpSide,
  { version, amount, recipient }: UserBurn & { readonly recipient: string },
  mined: Mined | undefined,
): Promise<SentBurn> {
  const { transmitter: abi } = (await cctpAbis())[version]
  const log = mined?.logs.find(({ address }) => address.toLowerCase() === source.contracts[version].transmitter)
  if (!mined || !log) throw new Error(`A user's transaction on ${source.name} reverted`)
  const message = getBytes(String(abi.decodeEventLog('MessageSent', log.data)[0]))
  const { transactionHash: txHash, blockNumber: height, timestamp: sentAt } = mined
  const place = { emitter: toUniversal(log.address), sequence: BigInt(placeOf(height, Number(log.logIndex))) }
  const ends = { source: source.name, sourceNetworkId: source.anvil.chainId, target: target.name, asset: target.token }
  return { version, amount, recipient, ...ends, ...place, txHash, height, message, sentAt }
}

function callOf(burn: UserBurn & { readonly recipient: string }, source: CctpSide, target: CctpSide) {
  const { version, amount, recipient, caller, minFinality = 2_000, maxFee = 0n, hookData } = burn
  const common = [amount, target.domain, zeroPadValue(recipient, 32), source.token]
  const callerWord = zeroPadValue(caller ?? nobody, 32)
  if (version === 1)
    return caller === undefined
      ? { method: 'depositForBurn', args: common }
      : { method: 'depositForBurnWithCaller', args: [...common, callerWord] }
  const args = [...common, callerWord, maxFee, minFinality]
  return hookData === undefined ? { method: 'depositForBurn', args } : { method: 'depositForBurnWithHook', args: [...args, hookData] }
}
