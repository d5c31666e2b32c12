import { id, toBeHex } from 'ethers'
import { toBigint } from '../../chains/crypto/curve.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TariffRule, Tariff } from '../../domain/settings/tariff.ts'
import { dollarsOf } from '../../domain/text/amounts.ts'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'
import { toHex } from '../../domain/vaa.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import { createDecimals, type TokenPlace } from '../kit/decimals.ts'
import type { CallRule, Message, Route } from '../kit/plugin.ts'
import type { Product } from '../kit/plugin-bridge.ts'
import { readView } from '../kit/views.ts'
import type { PriceOf } from '../port.ts'
import { explainRevert } from './reverts.ts'

export const wormholeTokenBridge = 'wormhole-token-bridge' satisfies BridgeName

/** A transfer as Bridge.sol reads it (parseTransfer, parseTransferWithPayload). Amounts have at most 8 decimals. */
export interface TokenTransfer {
  /** 1: anyone may redeem and gets the fee. 3: only the recipient contract may redeem, and there is no fee. */
  readonly kind: 1 | 3
  readonly amount: bigint
  /** The token on its native chain: `<wormhole chain id>/<64 lower-case hex digits>`. */
  readonly originToken: string
  readonly originChain: number
  readonly originAddress: string
  /** The last 20 of 32 bytes: 0x, lower case. */
  readonly recipient: string
  readonly targetChain: number
  /** In the token's units in a VAA; 0 for kind 3. */
  readonly fee: bigint
}

/** A token is named as on its native chain: `<wormhole chain id>/<64 lower-case hex digits>`. */
export interface TokenBridgeTarget {
  readonly wormholeChainId: number
  readonly tokenBridge: string
  /** Origin token → minimum fee: decimal, in the token's units in a VAA (at most 8 decimals), or `0.5 dollars`. */
  readonly minimumFees?: Readonly<Record<string, string>> | undefined
  /** Origin token → value of one unit in a VAA: decimal wei of the target's coin, or `feed`. */
  readonly prices?: Readonly<Record<string, string>> | undefined
  /** Recipient contract (0x, lower case) → the contract's function `name(bytes)` that redeems a payload 3. */
  readonly calls?: Readonly<Record<string, string>> | undefined
}

export interface TokenBridgeOptions {
  readonly targets: ReadonlyMap<ChainName, TokenBridgeTarget>
  /** Absent: all tokens are delivered. */
  readonly assets?: readonly string[] | undefined
  /** Whether tokens without a minimum fee are delivered on a route. Absent: on no route. */
  readonly isFree?: (source: ChainName, target: ChainName) => boolean
  /** Rules that operators have ordered. They override the config. */
  readonly tariff?: (() => readonly TariffRule[]) | undefined
  readonly decimals?: ((content: TokenTransfer) => Promise<number | undefined>) | undefined
  /** Prices of tokens and coins. Absent: no fee is in dollars, and no price is `feed`. */
  readonly priceOf?: PriceOf | undefined
}

type Content = TokenTransfer & { readonly target: Target }
type Target = TokenBridgeTarget & { readonly name: ChainName }

const unwrap = 'completeTransferAndUnwrapETH(bytes)'
const complete = 'completeTransfer(bytes)'
const redeemedEvent = id('TransferRedeemed(uint16,bytes32,uint64)')

/** Offsets in bytes: the last 20 bytes of the recipient, and the target chain's u16. */
const [recipientAt, targetChainAt] = [79, 99]

export function routesOf({ name, wormholeChainId, tokenBridge: contract, calls = {} }: Target): readonly Route[] {
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
  // The last route is for a payload 3 without a configured call, which `admit` declines.
  return [route({ 0: '01' }, completions), ...redeemers, route({ 0: '03' }, [])]
}

/**
 * Values fees at the prices of the feed, in dollars and in coins with 18 decimals. Throws PRICE_MISSING if a price is
 * missing.
 */
function createFeeValues({ priceOf, decimals }: Pick<TokenBridgeOptions, 'priceOf' | 'decimals'>) {
  const missing = (detail: string, { originToken: name }: Content) => new RelayerError('PRICE_MISSING', { detail, facts: { name } })
  /** `target`: price of `name` at the target. The prices are read in parallel, so that they are equally recent. */
  const read = async (content: Content, name: string) => {
    if (!priceOf) throw missing('The config has no priceFeed.', content)
    const both = [priceOf(content.originToken, 'source'), priceOf(name, 'target')] as const
    const [token, target, places] = await Promise.all([...both, decimals?.(content)])
    if (places === undefined) throw missing('The decimals of the token cannot be read.', content)
    return { unit: 10n ** BigInt(places), token, target }
  }
  return {
    /**
     * Throws FEE_TOO_LOW if the fee is worth less than the minimum at every current price, and FEE_BELOW_COST if the
     * fee is worth less at only some of these prices.
     */
    async demand(minimum: string, content: Content): Promise<void> {
      const [dollars, { fee }] = [dollarsOf(minimum), content]
      // Without a price, a transfer with a fee of 0 would wait, and could take the place of another transfer.
      if (fee === 0n && dollars > 0n) throw tooLow(content, `${minimum} dollars`)
      const { unit, token, target } = await read(content, content.originToken)
      const units = (price: bigint) => (dollars * unit + price - 1n) / price
      const least = units(target)
      if (fee < least) throw tooLow(content, String(least))
      const detail = `At one of the current prices, the fee of ${fee} is below the minimum of ${units(token)}.`
      if (fee < units(token)) throw new RelayerError('FEE_BELOW_COST', { detail, facts: { token: content.originToken } })
    },
    async wei(fee: bigint, content: Content): Promise<bigint> {
      const { unit, token, target } = await read(content, content.target.name)
      return (fee * token * 10n ** 18n) / (unit * target)
    },
  }
}

type FeeValues = ReturnType<typeof createFeeValues>

const tooLow = ({ originToken: token, fee }: Content, minimum: string) =>
  new RelayerError('FEE_TOO_LOW', { facts: { token, fee: String(fee), minimum } })

function createAdmit({ assets, isFree, tariff = () => [] }: Pick<TokenBridgeOptions, 'assets' | 'isFree' | 'tariff'>, values: FeeValues) {
  return async ({ source, content }: Message<Content>): Promise<void> => {
    const { kind, recipient, originToken, fee, target } = content
    if (kind === 3 && target.calls?.[recipient] === undefined) throw new RelayerError('PAYLOAD_WITH_CALL', { facts: { recipient } })
    const rules = tariff()
    if (!(isAssetDelivered(rules, originToken) ?? assets?.includes(originToken) ?? true))
      throw new RelayerError('ASSET_UNSUPPORTED', { facts: { token: originToken } })
    if (kind === 3) return
    const free = isRouteFree(rules, source, target.name) ?? isFree?.(source, target.name)
    const minimum = tariffOfFee(rules, target.name, originToken).minimumFee ?? target.minimumFees?.[originToken] ?? (free ? '0' : undefined)
    if (minimum === undefined) throw new RelayerError('FEE_NOT_CONFIGURED', { facts: { token: originToken, sourceChain: source } })
    const [amount = '', inDollars] = minimum.split(' ')
    if (inDollars) return values.demand(amount, content)
    if (fee < BigInt(amount)) throw tooLow(content, amount)
  }
}

/** Wormhole's token bridge (Bridge.sol): payload 1, and payload 3 to a configured contract. */
export function createTokenBridge({ targets, decimals, priceOf, ...policy }: TokenBridgeOptions): Product<Content> {
  const values = createFeeValues({ priceOf, decimals })
  const owners = new Map<Route, Target>(
    [...targets].flatMap(([name, { tokenBridge, ...rest }]) => {
      const target = { ...rest, name, tokenBridge: tokenBridge.toLowerCase() }
      return routesOf(target).map((route) => [route, target] as const)
    }),
  )

  const callOf: Product<Content>['stages'][string]['call'] = async ({ bytes, content }, { wrapped, constant }) => {
    const { kind, recipient, originChain, originAddress, target } = content
    const call = kind === 3 ? target.calls?.[recipient] : undefined
    if (call !== undefined) return { contract: recipient, function: call, args: [bytes] }
    const contract = target.tokenBridge
    const weth = async () => String((await constant({ contract, view: 'WETH()', args: [], returns: 'address' }))[0])
    // Bridge.sol can unwrap only the wrapped coin of its own chain.
    const isCoin = originChain === target.wormholeChainId && originAddress === (await weth()).slice(2).toLowerCase().padStart(64, '0')
    return { contract, function: isCoin && !wrapped ? unwrap : complete, args: [bytes] }
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
    admit: createAdmit(policy, values),
    refusals: {
      PAYLOAD_KIND: { kind: 'rejected' },
      PAYLOAD_WITH_CALL: { kind: 'declined' },
      ASSET_UNSUPPORTED: { kind: 'declined' },
      FEE_NOT_CONFIGURED: { kind: 'declined' },
      FEE_TOO_LOW: { kind: 'declined' },
      FEE_BELOW_COST: { kind: 'wait' },
      PRICE_MISSING: { kind: 'wait' },
    },
    stages: {
      complete: {
        call: callOf,
        // For payload 3, the recipient contract may do anything in a second call.
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
    async earned({ content }) {
      const { kind, originToken, fee, target } = content
      const price = tariffOfFee(policy.tariff?.() ?? [], target.name, originToken).price ?? target.prices?.[originToken]
      // A payload 3 pays no fee, so the cost of its configured call is not checked.
      if (price === undefined || kind === 3) return undefined
      return price === 'feed' ? values.wei(fee, content) : fee * BigInt(price)
    },
    reverts: (revert, content) => explainRevert(revert, content !== undefined && runsOthersCode(content)),
    ...(decimals && { decimals: ({ content }) => decimals(content) }),
    parties: ({ content: { recipient, originToken: token, amount } }) => ({ recipient, token, amount: String(amount) }),
  }
}

/**
 * Whether the call runs a stranger's code, which may choose the revert: the called contract of a payload 3, a token of
 * the target chain, or the recipient of the target's coin.
 */
const runsOthersCode = ({ kind, originChain, target }: Content) => kind === 3 || originChain === target.wormholeChainId

/** Layout: kind u8, amount u256, token, token's chain u16, recipient, target chain u16, fee u256 or sender. */
const transferBytes = 133

/** Payload 1 has exactly 133 bytes, payload 3 at least 133. Throws PAYLOAD_KIND, PAYLOAD_LENGTH. */
export function parseTokenTransfer(payload: Uint8Array): TokenTransfer {
  const kind = payload[0]
  if (kind !== 1 && kind !== 3) throw new RelayerError('PAYLOAD_KIND', { facts: { kind: kind ?? 'none' } })
  if (kind === 1 ? payload.length !== transferBytes : payload.length < transferBytes) {
    throw new RelayerError('PAYLOAD_LENGTH', { facts: { kind, bytes: payload.length } })
  }
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  const originAddress = toHex(payload.subarray(33, 65))
  const originChain = view.getUint16(65)
  return {
    kind,
    amount: toBigint(payload.subarray(1, 33)),
    originToken: `${originChain}/${originAddress}`,
    originChain,
    originAddress,
    recipient: `0x${toHex(payload.subarray(79, 99))}`,
    targetChain: view.getUint16(99),
    fee: kind === 1 ? toBigint(payload.subarray(101, 133)) : 0n,
  }
}

export function isAssetDelivered(rules: readonly TariffRule[], token: string): boolean | undefined {
  return rules.find(({ scope }) => scope.kind === 'asset' && scope.token === token)?.tariff.delivered
}

export function tariffOfFee(rules: readonly TariffRule[], chain: ChainName, token: string): Pick<Tariff, 'minimumFee' | 'price'> {
  return rules.find(({ scope }) => scope.kind === 'fee' && scope.chain === chain && scope.token === token)?.tariff ?? {}
}

export function isRouteFree(rules: readonly TariffRule[], source: ChainName, target: ChainName): boolean | undefined {
  const freeFrom = (from: ChainName | undefined) =>
    rules.find(({ scope }) => scope.kind === 'route' && scope.target === target && scope.source === from)?.tariff.free
  return freeFrom(source) ?? freeFrom(undefined)
}

/** Bridge.sol (normalizeAmount) cuts amounts to this number of decimals. */
const mostDecimals = 8

type ConnectedBridge = Pick<TokenBridgeTarget, 'tokenBridge'> & { readonly chain: ContractReader }

/**
 * Returns a function that reads the decimals of an amount from the token on its own chain or, if this chain is not
 * connected, from the token's wrapped form on the target.
 */
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

/** Undefined for an address of another chain family, and for address 0 (a token without a wrapped form). */
function placeOf(chain: ContractReader, word: string): TokenPlace | undefined {
  return /^0{24}/.test(word) && !/^0*$/.test(word) ? { chain, address: `0x${word.slice(24)}` } : undefined
}
