import { id, toBeHex } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { type DeliveryLog, findDelivery, isLogOf } from '../kit/logs.ts'
import type { ChainNames } from '../kit/signed-messages.ts'
import type { Endpoint } from '../port.ts'
import { allCalls, createDelivery, createProveCall } from './calls.ts'
import { createTokenBridgeReads, isCompleted } from './contracts.ts'
import { createProof, createVerdicts, type PolicyOptions } from './verify.ts'
import { explainRevert } from './reverts.ts'

export interface EvmEndpointOptions extends PolicyOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender'>
  readonly wormholeChainId: number
  readonly verify: (message: Uint8Array) => Promise<void>
  readonly tokenBridge: string
  readonly chainNames: ChainNames
}

export function createEvmEndpoint(options: EvmEndpointOptions): Endpoint {
  const { chain, verify, calls } = options
  const tokenBridge = options.tokenBridge.toLowerCase()
  const reads = createTokenBridgeReads(chain, tokenBridge)
  const prove = createProof({ ...options, reads })
  return {
    chain: chain.name,
    ...createVerdicts(options, verify, prove),
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
