import { decodeBase64 } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { type TokenBridgeReads, unregistered } from './contracts.ts'
import { contractOf, readMessage, type TokenBridgeMessage } from './message.ts'
import type { TokenTransfer } from './payload.ts'

/** What is delivered to one target chain, and for how much. Tokens are `<wormhole chain id>/<64 lower-case hex digits>` of where they are native. */
export interface PolicyOptions {
  /** Origin tokens that are delivered; absent: all. */
  readonly assets?: readonly string[]
  /** Origin token → least fee, decimal, in the token's units as the VAA carries them (at most 8 decimals). */
  readonly minimumFees?: Readonly<Record<string, string>>
  /** Origin token → what a unit of it is worth, as the VAA carries it: wei of the target's coin, decimal. */
  readonly prices?: Readonly<Record<string, string>> | undefined
  /** Whether a token without such a fee is delivered from this chain, by name; absent: from none. */
  readonly isFree?: (sourceChain: ChainName) => boolean
  /** Recipient contract (lower-case 0x address) → its function that redeems a payload 3 as `name(bytes)` with the VAA. Only that contract may redeem it. */
  readonly calls?: Readonly<Record<string, string>>
}

export interface ProofOptions {
  readonly chain: { readonly name: string }
  /** Wormhole's number of the target chain. */
  readonly wormholeChainId: number
  readonly verify: (message: Uint8Array) => Promise<void>
  readonly reads: Pick<TokenBridgeReads, 'emitter' | 'agreedEmitter'>
}

/**
 * What the chains say of a message: it is for this chain, of the registered token bridge of its source, and signed. `prove` throws MESSAGE_MISMATCH,
 * EMITTER_UNKNOWN, and what decoding, `verify` and reads throw.
 */
export function createProof({ chain, wormholeChainId, verify, reads }: ProofOptions) {
  return async function prove(bytes: Uint8Array): Promise<TokenBridgeMessage> {
    const message = readMessage(bytes)
    const { emitter, emitterChain } = message.vaa
    const { targetChain } = message.transfer
    if (targetChain !== wormholeChainId) {
      throw new RelayerError('MESSAGE_MISMATCH', { facts: { chain: chain.name, wormholeChainId, targetChain } })
    }
    await Promise.all([checkEmitter({ chain, reads }, emitterChain, emitter), verify(bytes)])
    return message
  }
}

export type Proof = ReturnType<typeof createProof>

/** All that makes a message deliverable. `check` throws MESSAGE_MISMATCH, what `prove` throws, and PAYLOAD_WITH_CALL, ASSET_UNSUPPORTED, FEE_NOT_CONFIGURED, FEE_TOO_LOW. */
export function createCheck({ assets, minimumFees, isFree, calls }: PolicyOptions, prove: Proof) {
  return async function check(transfer: Transfer): Promise<void> {
    const bytes = decodeBase64(transfer.message)
    const { vaa, digest } = readMessage(bytes)
    const isSource = vaa.emitter === transfer.emitter && String(vaa.emitterChain) === transfer.sourceId
    const isSame = digest === transfer.digest && isSource && vaa.sequence === transfer.sequence
    if (!isSame) throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest: transfer.digest, found: digest } })
    checkPolicy({ assets, minimumFees, isFree, calls }, transfer.sourceChain, (await prove(bytes)).transfer)
  }
}

/**
 * Throws EMITTER_UNKNOWN if this is not the token bridge that the target has registered for that chain. Either verdict is the word of more than half of its
 * nodes: a yes may be remembered from an earlier read, a no is read anew.
 */
export async function checkEmitter(
  { chain, reads }: Pick<ProofOptions, 'chain' | 'reads'>,
  emitterChain: number,
  emitter: string,
): Promise<void> {
  if ((await reads.emitter(emitterChain)) === emitter) return
  const registered = await reads.agreedEmitter(emitterChain)
  if (registered === emitter) return
  const detail = registered === unregistered ? `The token bridge of ${chain.name} has registered none for that chain.` : ''
  throw new RelayerError('EMITTER_UNKNOWN', { detail, facts: { emitterChain, emitter } })
}

/** The checks that are ours, not the protocol's. Throws PAYLOAD_WITH_CALL, ASSET_UNSUPPORTED, FEE_NOT_CONFIGURED, FEE_TOO_LOW. */
function checkPolicy({ assets, minimumFees, calls, isFree }: PolicyOptions, sourceChain: ChainName, transfer: TokenTransfer): void {
  const { kind, recipient, originToken, fee } = transfer
  const contract = contractOf(recipient)
  if (kind === 3 && calls?.[contract] === undefined) throw new RelayerError('PAYLOAD_WITH_CALL', { facts: { recipient: contract } })
  if (assets && !assets.includes(originToken)) throw new RelayerError('ASSET_UNSUPPORTED', { facts: { token: originToken } })
  // A payload 3 has no fee: a configured call is delivered for nothing.
  if (kind === 3) return
  const minimum = minimumFees?.[originToken] ?? (isFree?.(sourceChain) ? '0' : undefined)
  if (minimum === undefined) throw new RelayerError('FEE_NOT_CONFIGURED', { facts: { token: originToken, sourceChain } })
  if (fee < BigInt(minimum)) throw new RelayerError('FEE_TOO_LOW', { facts: { token: originToken, fee: String(fee), minimum } })
}
