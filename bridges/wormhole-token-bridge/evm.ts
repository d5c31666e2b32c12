import { decodeBase64, id, toBeHex } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import { currentHead } from '../../chains/heads.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { type DeliveryLog, findDelivery, isLogOf } from '../kit/logs.ts'
import { toVerdict } from '../kit/verdict.ts'
import type { Endpoint, PlannedDelivery } from '../port.ts'
import { completions, createTokenBridgeReads, encodeBytesCall, isCompleted, selectorOf, type TokenBridgeReads } from './contracts.ts'
import { createGuardianSets, createVerifier, refusals } from './verify.ts'
import { contractOf, readMessage } from './message.ts'
import { explainRevert } from './reverts.ts'
import { checkEmitter, createCheck, createProof, createProveCall, type PolicyOptions } from './validate.ts'

/** Addresses are lower-case 0x. */
export interface EvmEndpointOptions extends PolicyOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender'>
  /** Wormhole chain id. */
  readonly wormholeChainId: number
  readonly core: string
  readonly tokenBridge: string
}

export function createEvmEndpoint(options: EvmEndpointOptions): Endpoint {
  const { chain, core, calls } = options
  const tokenBridge = options.tokenBridge.toLowerCase()
  const reads = createTokenBridgeReads(chain, tokenBridge)
  const verify = createVerifier(createGuardianSets(chain, core), () => currentHead(chain).latest.timestamp)
  const prove = createProof({ ...options, verify, reads })
  const check = createCheck(options, prove)
  return {
    chain: chain.name,
    verify: (message) => toVerdict(() => verify(message), refusals),
    accepts: ({ sourceId, emitter }) => toVerdict(() => checkEmitter({ chain, reads }, Number(sourceId), emitter), refusals),
    validate: (transfer) => toVerdict(() => check(transfer), refusals),
    delivered: ({ digest }, at) => isCompleted(chain, tokenBridge, digest, at),
    findDelivery: (transfer) => findDelivery(chain, redemptionLog(tokenBridge, transfer)),
    delivery: createDelivery({ ...options, tokenBridge }, reads),
    calls: allCalls(tokenBridge, calls),
    proveCall: createProveCall(tokenBridge, calls, prove),
    explainRevert,
    hasEffect: ({ status, logs }, transfer) => status === 'success' && logs.some(isLogOf(redemptionLog(tokenBridge, transfer))),
  }
}

const redeemedEvent = id('TransferRedeemed(uint16,bytes32,uint64)')

export function redemptionLog(tokenBridge: string, { sourceId, emitter, sequence }: Transfer): DeliveryLog {
  return { address: tokenBridge, topics: [redeemedEvent, toBeHex(Number(sourceId), 32), `0x${emitter}`, toBeHex(BigInt(sequence), 32)] }
}

function createDelivery({ wormholeChainId, tokenBridge, calls, prices }: EvmEndpointOptions, { weth }: TokenBridgeReads) {
  return function delivery({ bridge, targetChain, message }: Transfer): PlannedDelivery {
    const bytes = decodeBase64(message)
    const { kind, recipient, originChain, originAddress, originToken, fee } = readMessage(bytes).transfer
    const contract = contractOf(recipient)
    const price = prices?.[originToken]
    return {
      async call() {
        const call = kind === 3 ? calls?.[contract] : undefined
        if (call !== undefined) return { to: contract, data: encodeBytesCall(selectorOf(call), bytes), value: '0' }
        // Unwraps if the token is this chain's wrapped coin (Bridge.sol allows it only then).
        const native = originChain === wormholeChainId && originAddress === (await weth()).slice(2).padStart(64, '0')
        const method = native ? 'completeTransferAndUnwrapETH(bytes)' : 'completeTransfer(bytes)'
        return { to: tokenBridge, data: encodeBytesCall(selectorOf(method), bytes), value: '0' }
      },
      parties: { bridge, targetChain, recipient: contract, token: originToken },
      // A transfer with a configured call (payload 3) pays no fee and is delivered for free.
      earned: price === undefined || kind === 3 ? undefined : fee * BigInt(price),
      // A recipient contract (payload 3) may do anything when it is called a second time.
      revertsOnceDelivered: kind !== 3,
    }
  }
}

function allCalls(tokenBridge: string, calls: PolicyOptions['calls'] = {}): Readonly<Record<string, readonly string[]>> {
  const redeemers = Object.fromEntries(Object.entries(calls).map(([contract, call]) => [contract.toLowerCase(), [selectorOf(call)]]))
  return { ...redeemers, [tokenBridge]: [...completions, ...(redeemers[tokenBridge] ?? [])] }
}
