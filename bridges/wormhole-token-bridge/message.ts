import { type BytesLike, decodeBase64, encodeBase64, keccak256 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type BridgeName, type ChainName, mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'
import { unconfiguredSource } from '../../domain/transfer/unconfigured-source.ts'
import { parseVaa, type Vaa } from '../../domain/vaa.ts'
import { parseTokenTransfer, type TokenTransfer } from './payload.ts'

export const wormholeTokenBridge = 'wormhole-token-bridge' satisfies BridgeName

/** A decoded VAA of the token bridge. */
export interface TokenBridgeMessage {
  readonly vaa: Vaa
  readonly transfer: TokenTransfer
  /** keccak256(keccak256(body)), which guardians sign and contracts identify transfers by. 0x, lower case. */
  readonly digest: string
}

/** Long messages are not cached. */
const mostKept = 2_048
const mostKeptBytes = 4_096

/** Throws VAA_*, PAYLOAD_KIND, PAYLOAD_LENGTH. */
export function readMessage(bytes: Uint8Array): TokenBridgeMessage {
  return bytes.length > mostKeptBytes ? decodeMessage(bytes) : kept.memo(encodeBase64(bytes))
}

/** Keyed by text: a caller may change its bytes later. */
const kept = new LRUCache<string, TokenBridgeMessage>({ max: mostKept, memoMethod: (message) => decodeMessage(decodeBase64(message)) })

function decodeMessage(bytes: Uint8Array): TokenBridgeMessage {
  const vaa = parseVaa(bytes)
  return { vaa, transfer: parseTokenTransfer(vaa.payload), digest: digestOf(vaa) }
}

/** Messages.sol, parseVM. The `hash` of both Wormhole SDKs is the single keccak instead. */
export function digestOf({ body }: { readonly body: BytesLike }): string {
  return keccak256(keccak256(body))
}

/** Index of the guardian set. Throws VAA_*. */
export function signedBy(bytes: Uint8Array): number {
  return parseVaa(bytes).guardianSetIndex
}

/** 0x, lower case. */
export function contractOf(recipient: string): string {
  return `0x${recipient.slice(24)}`
}

/** Names unknown sources `wormhole-<id>`. Throws as `readMessage`, MESSAGE_TOO_LARGE, TARGET_CHAIN_UNSUPPORTED. */
export function createDecode(chainNames: ReadonlyMap<number, ChainName>) {
  return function decode(bytes: Uint8Array): Transfer {
    const { vaa, transfer, digest } = readMessage(bytes)
    if (bytes.length > mostMessageBytes)
      throw new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes: bytes.length, most: mostMessageBytes } })
    const targetChain = chainNames.get(transfer.targetChain)
    if (targetChain === undefined) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { wormholeChainId: transfer.targetChain } })
    return {
      bridge: wormholeTokenBridge,
      sourceChain: chainNames.get(vaa.emitterChain) ?? unconfiguredSource(vaa.emitterChain),
      sourceId: String(vaa.emitterChain),
      targetChain,
      emitter: vaa.emitter,
      sequence: vaa.sequence,
      digest,
      message: encodeBase64(bytes),
    }
  }
}
