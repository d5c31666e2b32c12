import { id, toBeHex } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { tariffOfFee, isAssetDelivered, isRouteFree, type TariffRule } from '../../domain/settings/tariff.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { CallRule, Message, Route } from '../kit/plugin.ts'
import type { Product } from '../kit/plugin-bridge.ts'
import { parseTokenTransfer, type TokenTransfer, wormholeTokenBridge } from './message.ts'
import { explainRevert } from './reverts.ts'

/** Policy of one target chain. Tokens are `<wormhole chain id>/<64 lower-case hex digits>` of their native chain. */
interface Policy {
  /** Origin token → minimum fee, decimal, in the VAA's units (at most 8 decimals). */
  readonly minimumFees?: Readonly<Record<string, string>> | undefined
  /** Origin token → value of one VAA unit, wei of the target's coin, decimal. */
  readonly prices?: Readonly<Record<string, string>> | undefined
  /** Recipient contract (lower-case 0x) → its function `name(bytes)` for payload 3. Only the recipient may redeem. */
  readonly calls?: Readonly<Record<string, string>> | undefined
}

export interface TokenBridgeTarget extends Policy {
  readonly wormholeChainId: number
  /** 0x. */
  readonly tokenBridge: string
}

export interface TokenBridgeOptions {
  readonly targets: ReadonlyMap<ChainName, TokenBridgeTarget>
  /** Origin tokens that are delivered. Absent: all. */
  readonly assets?: readonly string[] | undefined
  /** True if tokens without a minimum fee are delivered. Absent: on no route. */
  readonly isFree?: (source: ChainName, target: ChainName) => boolean
  /** Rules of operators, in place of the others. Absent: none. */
  readonly tariff?: (() => readonly TariffRule[]) | undefined
}

type Content = TokenTransfer & { readonly target: Target }
type Target = TokenBridgeTarget & { readonly name: ChainName }

const unwrap = 'completeTransferAndUnwrapETH(bytes)'
const complete = 'completeTransfer(bytes)'
const redeemedEvent = id('TransferRedeemed(uint16,bytes32,uint64)')

/** Offsets in the payload: the recipient's last 20 bytes, and the target chain's u16 (message.ts). */
const [recipientAt, targetChainAt] = [79, 99]

function routesOf({ name, wormholeChainId, tokenBridge: contract, calls = {} }: Target): readonly Route[] {
  const chain = { [targetChainAt]: wormholeChainId.toString(16).padStart(4, '0') }
  const accepts = { contract, view: 'bridgeContracts(uint16)', args: ['$emitterChain'], is: '$emitter' }
  const route = (where: Route['where'], own: readonly CallRule[]): Route => ({
    from: 'accepted',
    accepts,
    where: { ...where, ...chain },
    to: name,
    calls: own,
  })
  const redeemers = Object.entries(calls).map(([recipient, signature]) =>
    route({ 0: '03', [recipientAt]: recipient.slice(2) }, [{ contract: recipient, function: signature, proof: 'message' }]),
  )
  const completions = [complete, unwrap].map((signature) => ({ contract, function: signature, proof: 'message' }) as const)
  // `admit` declines a payload 3 without a configured call.
  return [route({ 0: '01' }, completions), ...redeemers, route({ 0: '03' }, [])]
}

function createAdmit({ assets, isFree, tariff = () => [] }: Omit<TokenBridgeOptions, 'targets'>) {
  return ({ source, content: { kind, recipient, originToken, fee, target } }: Message<Content>): void => {
    if (kind === 3 && target.calls?.[recipient] === undefined) throw new RelayerError('PAYLOAD_WITH_CALL', { facts: { recipient } })
    const rules = tariff()
    if (!(isAssetDelivered(rules, originToken) ?? assets?.includes(originToken) ?? true))
      throw new RelayerError('ASSET_UNSUPPORTED', { facts: { token: originToken } })
    if (kind === 3) return
    const free = isRouteFree(rules, source, target.name) ?? isFree?.(source, target.name)
    const minimum = tariffOfFee(rules, target.name, originToken).minimumFee ?? target.minimumFees?.[originToken] ?? (free ? '0' : undefined)
    if (minimum === undefined) throw new RelayerError('FEE_NOT_CONFIGURED', { facts: { token: originToken, sourceChain: source } })
    if (fee < BigInt(minimum)) throw new RelayerError('FEE_TOO_LOW', { facts: { token: originToken, fee: String(fee), minimum } })
  }
}

/** Wormhole's token bridge (Bridge.sol): transfers (payload 1), and transfers to a configured contract (payload 3). */
export function createTokenBridge({ targets, ...policy }: TokenBridgeOptions): Product<Content> {
  const owners = new Map<Route, Target>(
    [...targets].flatMap(([name, { tokenBridge, ...rest }]) => {
      const target = { ...rest, name, tokenBridge: tokenBridge.toLowerCase() }
      return routesOf(target).map((route) => [route, target] as const)
    }),
  )

  async function callOf({ bytes, content }: Message<Content>, wrapped: boolean, weth: () => Promise<string>) {
    const { kind, recipient, originChain, originAddress, target } = content
    const call = kind === 3 ? target.calls?.[recipient] : undefined
    if (call !== undefined) return { contract: recipient, function: call, args: [bytes] }
    // Bridge.sol can unwrap only this chain's wrapped coin.
    const isCoin = originChain === target.wormholeChainId && originAddress === (await weth()).slice(2).toLowerCase().padStart(64, '0')
    return { contract: target.tokenBridge, function: isCoin && !wrapped ? unwrap : complete, args: [bytes] }
  }

  return {
    name: wormholeTokenBridge,
    routes: [...owners.keys()],
    decode({ payload }, route) {
      const target = owners.get(route)
      return target && { ...parseTokenTransfer(payload), target }
    },
    unrouted: ({ payload }) =>
      new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { wormholeChainId: parseTokenTransfer(payload).targetChain } }),
    admit: createAdmit(policy),
    refusals: {
      PAYLOAD_KIND: { kind: 'rejected' },
      PAYLOAD_WITH_CALL: { kind: 'declined' },
      ASSET_UNSUPPORTED: { kind: 'declined' },
      FEE_NOT_CONFIGURED: { kind: 'declined' },
      FEE_TOO_LOW: { kind: 'declined' },
    },
    stages: {
      complete: {
        call: (message, { wrapped, constant }) =>
          callOf(message, wrapped, async () => {
            const [weth] = await constant({ contract: message.content.target.tokenBridge, view: 'WETH()', args: [], returns: 'address' })
            return String(weth)
          }),
        // A recipient contract (payload 3) may do anything when it is called a second time.
        revertsOnceDone: ({ content }) => content.kind !== 3,
      },
    },
    delivered: ({ digest, content: { target } }) => [
      { contract: target.tokenBridge, view: 'isTransferCompleted(bytes32)', args: [digest], returns: 'bool', is: [true] },
    ],
    log: ({ emitterChain, emitter, sequence, content: { target } }) => ({
      address: target.tokenBridge,
      topics: [redeemedEvent, toBeHex(emitterChain, 32), `0x${emitter}`, toBeHex(BigInt(sequence), 32)],
    }),
    earned({ content: { kind, originToken, fee, target } }) {
      const price = tariffOfFee(policy.tariff?.() ?? [], target.name, originToken).price ?? target.prices?.[originToken]
      // A transfer with a configured call (payload 3) pays no fee and is delivered for free.
      return price === undefined || kind === 3 ? undefined : fee * BigInt(price)
    },
    reverts: explainRevert,
    parties: ({ content: { recipient, originToken: token, amount } }) => ({ recipient, token, amount: String(amount) }),
  }
}
