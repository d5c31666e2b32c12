import { id } from 'ethers'
import { freshAddress } from '../chain/accounts.ts'
import type { AnvilNode } from '../chain/anvil.ts'
import { artifact, type Mined } from '../chain/contracts.ts'
import { type Call, createSender } from '../chain/sender.ts'
import { toUniversal } from './vaa.ts'
import { published, type WormholeChain } from './wormhole.ts'

/** `coin` and `token` arrive wrapped. `coin-home` and `token-home` arrive unwrapped on their own chain. */
export const transferKinds = ['coin', 'token', 'coin-home', 'token-home'] as const
/** A transfer of coins with a payload 3 for the target's redeemer. Needs the devnet's option `receivers`. */
export const messageKind = 'coin-to-contract'
export type TransferKind = (typeof transferKinds)[number] | typeof messageKind

export interface UserTransfer {
  readonly kind: TransferKind
  /** wei. Only multiples of 10^10 arrive, because messages have at most 8 decimals. */
  readonly amount: bigint
  /** wei for the redeemer, out of `amount`. Default 0. */
  readonly fee?: bigint
  readonly recipient?: string
}

/** A sent transfer. Amounts in wei, without dust. Addresses are lower-case 0x. */
export interface SentTransfer {
  readonly kind: TransferKind
  readonly source: string
  readonly target: string
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  readonly sequence: bigint
  readonly recipient: string
  readonly amount: bigint
  readonly fee: bigint
  /** Address of the ERC20 that arrives on the target, or `coin` if the target unwraps. */
  readonly asset: string
  /** The token in the VAA as config tables name it: `<wormhole chain id>/<64 hex digits>`. */
  readonly origin: string
  readonly txHash: string
  /** Seconds. */
  readonly sentAt: number
}

/** The part of a chain that another process needs to send transfers. */
export type UserSide = Omit<WormholeChain, 'anvil' | 'deployer' | 'firstSequence'> & { readonly anvil: AnvilNode }

/** Users who send from one chain to the other, all with the devnet's user account. */
export interface Users {
  /**
   * Sends the transfers in as few blocks as possible. Resolves when all are mined. Throws Error if a transfer reverted.
   */
  send(transfers: readonly UserTransfer[]): Promise<SentTransfer[]>
}

const bridgeAbi = artifact('BridgeImplementation').abi
/** Smallest amount that token bridges carry, wei: amounts in messages have at most 8 decimals. */
const dust = 10n ** 10n
const gasLimit = 400_000n

export function startUsers(source: UserSide, target: UserSide): Users {
  const send = createSender(source.anvil, source.user, gasLimit)
  return {
    async send(transfers) {
      const plans = transfers.map((transfer) => plan(source, target, transfer))
      const mined = await send(plans.map(({ call }) => call))
      return mined.map((transaction, index) => ({ ...(plans[index] as Plan).sent, ...receipt(source, transaction) }))
    },
  }
}

interface Plan {
  readonly call: Call
  readonly sent: Omit<SentTransfer, 'sequence' | 'txHash' | 'sentAt'>
}

function plan(source: UserSide, target: UserSide, transfer: UserTransfer): Plan {
  const { kind, amount, fee = 0n } = transfer
  const recipient = (transfer.recipient ?? (kind === messageKind ? target.redeemer : freshAddress())).toLowerCase()
  const to = [target.wormholeChainId, `0x${toUniversal(recipient)}`] as const
  const vaaNonce = Math.floor(Math.random() * 2 ** 32)
  const { token, asset, home, originToken } = tokens(source, target)[kind]
  const data =
    kind === messageKind
      ? bridgeAbi.encodeFunctionData('wrapAndTransferETHWithPayload', [...to, vaaNonce, id(recipient)])
      : token === undefined
        ? bridgeAbi.encodeFunctionData('wrapAndTransferETH', [...to, fee, vaaNonce])
        : bridgeAbi.encodeFunctionData('transferTokens', [token, amount, ...to, fee, vaaNonce])
  return {
    call: { to: source.tokenBridge, data, value: token === undefined ? amount : 0n },
    sent: {
      kind,
      source: source.name,
      target: target.name,
      emitterChain: source.wormholeChainId,
      emitter: toUniversal(source.tokenBridge),
      recipient,
      amount: amount - (amount % dust),
      fee: fee - (fee % dust),
      asset,
      origin: `${home.wormholeChainId}/${toUniversal(originToken)}`,
    },
  }
}

interface TokenPath {
  readonly token: string | undefined
  readonly asset: string
  readonly home: UserSide
  readonly originToken: string
}

function tokens(source: UserSide, target: UserSide): Record<TransferKind, TokenPath> {
  const coin = { token: undefined, asset: target.wrappedWeth, home: source, originToken: source.weth }
  return {
    coin,
    [messageKind]: coin,
    token: { token: source.token, asset: target.wrappedToken, home: source, originToken: source.token },
    'coin-home': { token: source.wrappedWeth, asset: 'coin', home: target, originToken: target.weth },
    'token-home': { token: source.wrappedToken, asset: target.token, home: target, originToken: target.token },
  }
}

function receipt(source: UserSide, mined: Mined): Pick<SentTransfer, 'sequence' | 'txHash' | 'sentAt'> {
  const [message] = published(mined, source.core, source.wormholeChainId)
  if (!message) throw new Error(`The user's transaction ${mined.transactionHash} on ${source.name} reverted`)
  return { sequence: message.sequence, txHash: mined.transactionHash, sentAt: mined.timestamp }
}
