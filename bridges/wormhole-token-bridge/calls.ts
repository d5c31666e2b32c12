import { decodeBase64 } from 'ethers'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { decodeBytesCall, encodeBytesCall, selectorOf } from '../kit/bytes-call.ts'
import { provedBy, unproved } from '../kit/verdict.ts'
import type { PlannedDelivery } from '../port.ts'
import type { TokenBridgeReads } from './contracts.ts'
import { readMessage } from './message.ts'
import { type PolicyOptions, type Proof, refusals } from './verify.ts'

const completions = ['completeTransfer(bytes)', 'completeTransferAndUnwrapETH(bytes)'].map(selectorOf)

type DeliveryOptions = PolicyOptions & { readonly wormholeChainId: number; readonly tokenBridge: string }

export function createDelivery({ wormholeChainId, tokenBridge, calls, prices }: DeliveryOptions, { weth }: Pick<TokenBridgeReads, 'weth'>) {
  return function delivery({ bridge, targetChain, message }: Transfer): PlannedDelivery {
    const bytes = decodeBase64(message)
    const { kind, recipient, originChain, originAddress, originToken, fee } = readMessage(bytes).transfer
    const price = prices?.[originToken]
    return {
      async call(payout) {
        const call = kind === 3 ? calls?.[recipient] : undefined
        if (call !== undefined) return { to: recipient, data: encodeBytesCall(selectorOf(call), bytes), value: '0' }
        // Bridge.sol can unwrap only this chain's wrapped coin.
        const native = originChain === wormholeChainId && originAddress === (await weth()).slice(2).padStart(64, '0')
        const method = native && payout !== 'wrapped' ? 'completeTransferAndUnwrapETH(bytes)' : 'completeTransfer(bytes)'
        return { to: tokenBridge, data: encodeBytesCall(selectorOf(method), bytes), value: '0' }
      },
      parties: { bridge, targetChain, recipient, token: originToken },
      // A transfer with a configured call (payload 3) pays no fee and is delivered for free.
      earned: price === undefined || kind === 3 ? undefined : fee * BigInt(price),
      // A recipient contract (payload 3) may do anything when it is called a second time.
      revertsOnceDelivered: kind !== 3,
    }
  }
}

export function allCalls(tokenBridge: string, calls: PolicyOptions['calls'] = {}): Readonly<Record<string, readonly string[]>> {
  const redeemers = Object.fromEntries(Object.entries(calls).map(([contract, call]) => [contract.toLowerCase(), [selectorOf(call)]]))
  return { ...redeemers, [tokenBridge]: [...completions, ...(redeemers[tokenBridge] ?? [])] }
}

/** See `Endpoint.proveCall`. The call must carry one signed VAA, and its function must deliver the VAA's payload. */
export function createProveCall(tokenBridge: string, calls: PolicyOptions['calls'], prove: Proof) {
  return async function proveCall({ to, data, value }: Intent): Promise<void> {
    const contract = to.toLowerCase()
    const selector = data.slice(0, 10).toLowerCase()
    const vaa = decodeBytesCall(data)
    if (value !== '0') throw unproved('It carries coins.', { to, value })
    if (!vaa) throw unproved('It is no exactly encoded call with one VAA.', { to, selector })
    const { kind, recipient } = (await provedBy(() => prove(vaa), refusals)).transfer
    const call = calls?.[recipient]
    const redeems = call !== undefined && contract === recipient && selector === selectorOf(call)
    if (kind === 3 ? redeems : contract === tokenBridge && completions.includes(selector)) return
    throw unproved('It is not the call that delivers this payload.', { to, selector, kind, recipient })
  }
}
