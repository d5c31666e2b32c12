import { decodeBase64 } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { type ChainNames, demandSame, signedRefusals, sourceName } from '../kit/signed-messages.ts'
import { type Refusals, toVerdict } from '../kit/verdict.ts'
import { type TokenBridgeReads, unregistered } from './contracts.ts'
import { readMessage, type TokenBridgeMessage, type TokenTransfer } from './message.ts'

/** Policy of one target chain. Tokens are `<wormhole chain id>/<64 lower-case hex digits>` of their native chain. */
export interface PolicyOptions {
  /** Origin tokens that are delivered. Absent: all. */
  readonly assets?: readonly string[]
  /** Origin token → minimum fee, decimal, in the VAA's units (at most 8 decimals). */
  readonly minimumFees?: Readonly<Record<string, string>>
  /** Origin token → value of one VAA unit, wei of the target's coin, decimal. */
  readonly prices?: Readonly<Record<string, string>> | undefined
  /** True if tokens without a minimum fee are delivered from this chain. Absent: from none. */
  readonly isFree?: (sourceChain: ChainName) => boolean
  /** Recipient contract (lower-case 0x) → its function `name(bytes)` for payload 3. Only the recipient may redeem. */
  readonly calls?: Readonly<Record<string, string>>
}

interface ProofOptions {
  readonly chain: { readonly name: string }
  readonly wormholeChainId: number
  readonly verify: (message: Uint8Array) => Promise<void>
  readonly reads: Pick<TokenBridgeReads, 'emitter' | 'agreedEmitter'>
}

/** Checks target, signatures and registered emitter. Throws MESSAGE_MISMATCH, EMITTER_UNKNOWN, what `verify` throws. */
export function createProof({ chain, wormholeChainId, verify, reads }: ProofOptions) {
  return async function prove(bytes: Uint8Array): Promise<TokenBridgeMessage> {
    const message = readMessage(bytes)
    const { emitter, emitterChain } = message.vaa
    const { targetChain } = message.transfer
    if (targetChain !== wormholeChainId) {
      throw new RelayerError('MESSAGE_MISMATCH', { facts: { chain: chain.name, wormholeChainId, targetChain } })
    }
    await verify(bytes)
    await checkEmitter({ chain, reads }, emitterChain, emitter)
    return message
  }
}

export type Proof = ReturnType<typeof createProof>

export function createVerdicts(policy: PolicyOptions & { readonly chainNames: ChainNames }, verify: ProofOptions['verify'], prove: Proof) {
  async function check(transfer: Transfer): Promise<void> {
    const bytes = decodeBase64(transfer.message)
    demandSame(transfer, readMessage(bytes))
    const message = await prove(bytes)
    // Not the transfer's own field, which anyone with access to Temporal can write.
    checkPolicy(policy, sourceName(policy.chainNames, message.vaa.emitterChain), message.transfer)
  }

  return {
    verify: (message: Uint8Array) => toVerdict(verify(message), refusals),
    accepts: (message: Uint8Array) => toVerdict(prove(message), refusals),
    validate: (transfer: Transfer) => toVerdict(check(transfer), refusals),
  }
}

export async function checkEmitter({ chain, reads }: Pick<ProofOptions, 'chain' | 'reads'>, emitterChain: number, emitter: string) {
  if ((await reads.emitter(emitterChain)) === emitter) return
  const registered = await reads.agreedEmitter(emitterChain)
  if (registered === emitter) return
  const detail = registered === unregistered ? `The token bridge of ${chain.name} has registered none for that chain.` : ''
  throw new RelayerError('EMITTER_UNKNOWN', { detail, facts: { emitterChain, emitter } })
}

function checkPolicy({ assets, minimumFees, calls, isFree }: PolicyOptions, sourceChain: ChainName, transfer: TokenTransfer): void {
  const { kind, recipient, originToken, fee } = transfer
  if (kind === 3 && calls?.[recipient] === undefined) throw new RelayerError('PAYLOAD_WITH_CALL', { facts: { recipient } })
  if (assets && !assets.includes(originToken)) throw new RelayerError('ASSET_UNSUPPORTED', { facts: { token: originToken } })
  if (kind === 3) return
  const minimum = minimumFees?.[originToken] ?? (isFree?.(sourceChain) ? '0' : undefined)
  if (minimum === undefined) throw new RelayerError('FEE_NOT_CONFIGURED', { facts: { token: originToken, sourceChain } })
  if (fee < BigInt(minimum)) throw new RelayerError('FEE_TOO_LOW', { facts: { token: originToken, fee: String(fee), minimum } })
}

export const refusals: Refusals = {
  ...signedRefusals,
  EMITTER_UNKNOWN: { kind: 'rejected' },
  PAYLOAD_WITH_CALL: { kind: 'declined' },
  ASSET_UNSUPPORTED: { kind: 'declined' },
  FEE_NOT_CONFIGURED: { kind: 'declined' },
  FEE_TOO_LOW: { kind: 'declined' },
}
