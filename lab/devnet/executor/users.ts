import { serializeLayout, toChain } from '@wormhole-foundation/sdk-base'
import { fetchQuote, relayInstructionsLayout, UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import { hexlify } from 'ethers'
import { type Mined, Script } from '../chain/contracts.ts'
import { compiledArtifact } from '../chain/solidity.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import type { AnvilNode } from '../chain/anvil.ts'
import type { ExecutorEnd } from './deploy.ts'

/** The part of an end that another process needs to request deliveries. */
export type ExecutorSide = Omit<ExecutorEnd, 'chain'> & {
  readonly chain: { readonly wormholeChainId: number; readonly anvil: AnvilNode }
}

/** A message for the other chain's receiver. Amounts in wei. */
export interface ExecutorMessage {
  /** 0x hex. */
  readonly payload: string
  /** Gas units. Default 250,000. */
  readonly gasLimit?: bigint
  /** Coins for the receiver. Default 0. */
  readonly msgValue?: bigint
  readonly dropOff?: { readonly amount: bigint; readonly recipient: string }
  /** Returns the payment in wei, which may differ from the provider's price. */
  readonly pay?: (estimatedCost: bigint) => bigint
  /** Returns the quote of the request, which may differ from the provider's. 0x hex. */
  readonly quoteOf?: (signedQuote: string) => string
}

export interface SentRequest {
  readonly transaction: Mined
  readonly signedQuote: string
  /** The provider's price, wei. */
  readonly estimatedCost: bigint
  readonly instructions: string
}

export interface Quoted {
  readonly signedQuote: string
  /** wei. */
  readonly estimatedCost: bigint
}

/** Asks for a quote with Wormhole's SDK. `api`: base URL of the provider (…/v0). */
export async function askQuote(api: string, from: ExecutorSide, to: ExecutorSide, instructions: string): Promise<Quoted> {
  const [source, target] = [from.chain.wormholeChainId, to.chain.wormholeChainId]
  const { signedQuote, estimatedCost } = await fetchQuote(api, toChain(source), toChain(target), instructions)
  if (estimatedCost === undefined) throw new Error('The provider names no price')
  return { signedQuote, estimatedCost: BigInt(estimatedCost) }
}

export async function requestDelivery(api: string, from: ExecutorSide, to: ExecutorSide, message: ExecutorMessage): Promise<SentRequest> {
  const instructions = instructionsOf(message)
  const { signedQuote: offered, estimatedCost } = await askQuote(api, from, to, instructions)
  const signedQuote = message.quoteOf?.(offered) ?? offered
  const script = await Script.of(from.chain.anvil, from.user)
  const { abi } = await compiledArtifact('MessageSender')
  const args = [message.payload, to.chain.wormholeChainId, `0x${toUniversal(to.receiver)}`, signedQuote, instructions]
  script.call(from.sender, abi, 'send', args, message.pay?.(estimatedCost) ?? estimatedCost)
  const [transaction] = await script.mine()
  if (!transaction) throw new Error('No transaction was mined')
  return { transaction, signedQuote, estimatedCost, instructions }
}

/** Relay instructions, 0x hex. */
export function instructionsOf({ gasLimit = 250_000n, msgValue = 0n, dropOff }: Omit<ExecutorMessage, 'payload'>): string {
  const gas = { request: { type: 'GasInstruction' as const, gasLimit, msgValue } }
  const recipient = dropOff && new UniversalAddress(toUniversal(dropOff.recipient))
  const drop = dropOff && recipient ? [{ request: { type: 'GasDropOffInstruction' as const, dropOff: dropOff.amount, recipient } }] : []
  return hexlify(serializeLayout(relayInstructionsLayout, { requests: [gas, ...drop] }))
}
