import { decodeBase64 } from 'ethers'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { type TokenBridgeReads, unregistered } from './contracts.ts'
import { readMessage } from './message.ts'
import { createPolicy, type PolicyOptions } from './policy.ts'
import type { Verifier } from './verify.ts'

export interface CheckOptions extends PolicyOptions {
  readonly chain: { readonly name: string }
  /** Wormhole's number of the target chain. */
  readonly wormholeChainId: number
  readonly verify: Verifier['verify']
  readonly reads: Pick<TokenBridgeReads, 'emitter'>
}

/**
 * All that makes a message deliverable: same transfer, target, signatures, emitter, policy. The returned function throws MESSAGE_MISMATCH, EMITTER_UNKNOWN, and
 * what decoding, `verify`, the policy and reads throw.
 */
export function createCheck({ chain, wormholeChainId, verify, reads, ...policy }: CheckOptions) {
  const judge = createPolicy(policy)
  return async function check(transfer: Transfer): Promise<void> {
    const bytes = decodeBase64(transfer.message)
    const { vaa, digest, transfer: tokens } = readMessage(bytes)
    const isSame = digest === transfer.digest && vaa.emitter === transfer.emitter && vaa.sequence === transfer.sequence
    if (!isSame) throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest: transfer.digest, found: digest } })
    const { targetChain } = tokens
    if (targetChain !== wormholeChainId) {
      throw new RelayerError('MESSAGE_MISMATCH', { facts: { chain: chain.name, wormholeChainId, targetChain } })
    }
    const { emitter, emitterChain } = vaa
    const [registered] = await Promise.all([reads.emitter(emitterChain), verify(bytes)])
    if (registered !== emitter) {
      const detail = registered === unregistered ? `The token bridge of ${chain.name} has registered none for that chain.` : undefined
      throw new RelayerError('EMITTER_UNKNOWN', { ...(detail && { detail }), facts: { emitterChain, emitter } })
    }
    judge(tokens)
  }
}
